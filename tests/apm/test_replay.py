"""The compiled run against the reference trajectories, and pick for pick against the `Learner`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.learner import Learner
from apm.posteriors import VariationalLogistic
from apm.replay import replay
from apm.selectors import APM
from channelcode.errors import InvalidArgument, NotConverged


@pytest.mark.parametrize("name", ["cross", "clouds", "horseshoe"])
def test_reference_trajectories(name: str, reference: Callable[[str], Any]) -> None:
    """tests/data/trajectories.json: 40 picks, none of them a tie at rounding level."""
    entry = reference("trajectories")["datasets"][name]
    pool = np.array(entry["raw_X"])[entry["train_idx"]]
    pool = (pool - pool.mean(axis=0)) / pool.std(axis=0)
    labels = np.array(entry["raw_Y"])[entry["train_idx"]]
    run = replay(pool, labels, seeds=entry["seed_idx"])
    assert run.picks.tolist() == entry["methods"]["APM-LR"]["picks"]
    assert run.steps.mean() < 8


@settings(max_examples=15)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0]))
def test_same_as_the_learner(d: int, seed: int, precision: float) -> None:
    rng = np.random.default_rng(seed)
    pool = rng.standard_normal((25, d))
    labels = np.where(pool[:, 0] + rng.logistic(size=25) > 0, "up", "down")
    labels[:2] = ["up", "down"]
    run = replay(pool, labels, seeds=[0, 1], queries=12, prior_precision=precision)
    learner = Learner(pool, VariationalLogistic(precision), APM(), seed=0)
    learner.tell([0, 1], labels[:2])
    for step, pick in enumerate(run.picks):
        np.testing.assert_allclose(run.weights[step], learner.belief.posterior.map, atol=1e-7)
        assert int(learner.ask()[0]) == pick
        learner.tell(int(pick), labels[pick])


def test_edges() -> None:
    X, y = np.eye(3), [0, 1, 1]
    assert len(replay(X, y, seeds=[0, 1, 2], queries=0).picks) == 0
    assert sorted(replay(X, y, seeds=[1], queries=2).picks.tolist()) == [0, 2]
    # no seeds: the first pick is that of the prior
    assert replay(X, y, seeds=np.empty(0, dtype=int), queries=1).picks.tolist() == [0]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"seeds": [0, 0]}, "seeds must be different"),
        ({"seeds": [0.5]}, "seeds must be different"),
        ({"seeds": [3]}, "seeds must lie in 0"),
        ({"queries": 3}, "queries must not exceed the 2"),
        ({"queries": -1}, "queries must be at least 0"),
        ({"y": [0, 1]}, "one label for each of 3"),
        ({"y": [0, 1, 2]}, "at most 2 classes"),
        ({"X": [[np.nan], [0.0], [1.0]]}, "row 0, column 0"),
        ({"prior_precision": 0.0}, "prior_precision"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"X": np.eye(3), "y": [0, 1, 1], "seeds": [0], "queries": 1}
    with pytest.raises(InvalidArgument, match=message):
        replay(**arguments | changes)


def test_not_converged_carries_the_run() -> None:
    X = np.random.default_rng(0).standard_normal((40, 16))
    with pytest.raises(NotConverged) as caught:
        replay(
            X,
            (X[:, 0] > 0).astype(int),
            seeds=[0, 1],
            queries=30,
            prior_precision=1e-15,
        )
    assert caught.value.result.picks.shape == (30,)
