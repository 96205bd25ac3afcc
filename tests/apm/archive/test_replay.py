"""A posterior that does not follow from the journal beside it is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm import Bohning, InformationGain, Learner, VariationalLogistic, archive
from apm.archive.replay import check_replay, close
from apm.belief import Belief
from channelcode.errors import InvalidArgument

X = np.random.default_rng(3).normal(size=(20, 2))


def saved(model: Any, tmp_path: Any, labels: tuple[int, ...] = (0, 1, 1, 0, 1)) -> archive.Saved:
    learner = Learner(X, model, seed=1)
    for row, label in enumerate(labels):
        learner.tell(row, label)
    return archive.load(learner.save(tmp_path / "learner.npz"), None, None)


def with_posterior(held: archive.Saved, posterior: Any) -> archive.Saved:
    belief = Belief(posterior, held.belief.encoder, held.belief.channel)
    return held._replace(belief=belief)


@pytest.mark.parametrize(
    "model", [VariationalLogistic(), Bohning(2)], ids=["variational", "bohning"]
)
def test_the_posterior_of_the_journal_is_accepted_and_others_are_not(model, tmp_path):
    held = saved(model, tmp_path)
    check_replay(held)
    own = held.belief.posterior
    fewer = own.fit(own.design[:4], own.labels[:4])
    with pytest.raises(InvalidArgument, match="labels of the journal"):
        check_replay(with_posterior(held, fewer))
    other_labels = own.fit(own.design, 1 - own.labels)
    with pytest.raises(InvalidArgument, match="labels of the journal"):
        check_replay(with_posterior(held, other_labels))
    moved = own.fit(own.design + 1e-3, own.labels)
    with pytest.raises(InvalidArgument, match="labels of the journal"):
        check_replay(with_posterior(held, moved))


def test_a_solution_that_is_not_that_of_the_labels_is_refused(tmp_path):
    held = saved(VariationalLogistic(), tmp_path)
    own = held.belief.posterior
    state = own.state()
    # a thousandth of a deviation, well above the 1e-6 that rounding is allowed
    wrong = own.restored(state | {"mean": state["mean"] + 1e-3})
    with pytest.raises(InvalidArgument, match="must follow from the journal"):
        check_replay(with_posterior(held, wrong))


def test_rows_outside_the_pool_are_refused(tmp_path):
    held = saved(VariationalLogistic(), tmp_path)
    with pytest.raises(InvalidArgument, match="must name rows of the pool"):
        check_replay(held._replace(pool=held.pool[:2]))


def test_close_is_relative_to_the_scale_given():
    assert close([1.0], [1.0 + 1e-7], 1.0)
    assert not close([1.0], [1.0 + 1e-5], 1.0)
    assert close([1.0], [1.0 + 1e-5], 100.0)
    assert not close([1.0, 2.0], [1.0], 1.0)
    assert not close([np.nan], [1.0], 1.0)


@pytest.mark.parametrize("seed", [8, 24])
@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_features_far_from_zero_can_be_loaded_again(offset, seed, tmp_path):
    """Newton for the most probable weights stood still at rounding, and the file was refused."""
    rng = np.random.default_rng(seed)
    pool = (offset + rng.normal(size=(257, 2))).astype(np.float32)
    labels = (pool[:, 0] > offset).astype(int)
    learner = Learner(pool, VariationalLogistic(0.1, intercept=True), InformationGain(), seed=1)
    learner.tell(range(8), labels[:8])
    for _ in range(3):
        row = int(learner.ask())
        learner.tell(row, labels[row])
    learner.correct(0, int(1 - labels[0]))
    again = Learner.load(learner.save(tmp_path / "learner.npz"), pool=pool)
    assert int(again.ask()) == int(learner.ask())
