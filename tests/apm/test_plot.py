"""The picture of a learner: what is labelled, what comes next."""

import numpy as np
import pytest

from apm import APM, Learner, VariationalLogistic
from apm.plot import selection

pytest.importorskip("matplotlib")


def learner_in_the_plane(labels=3, rows=40, features=2):
    pool = np.random.default_rng(3).normal(size=(rows, features))
    learner = Learner(pool, VariationalLogistic(), APM(), seed=1)
    for _ in range(labels):
        (row,) = learner.ask()
        learner.tell(row, int(pool[row, 0] > 0))
    return learner


def drawn(figure, label):
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == label]
    return np.stack(line.get_data(), axis=-1)


def test_shows_the_labelled_rows_and_the_next_pick(tmp_path):
    learner = learner_in_the_plane()
    figure = selection(learner, np.asarray(learner.pool)[:, 0] > 0)
    np.testing.assert_array_equal(drawn(figure, "labelled"), learner.pool[learner.labelled])
    (following,) = learner.ask()
    np.testing.assert_array_equal(drawn(figure, "asked for next"), [learner.pool[following]])
    figure.savefig(tmp_path / "selection.png")
    assert (tmp_path / "selection.png").stat().st_size > 5_000


def test_a_finished_pool_has_no_next_pick():
    learner = learner_in_the_plane(labels=5, rows=5)
    labels = [line.get_label() for line in selection(learner).axes[0].lines]
    assert "labelled" in labels
    assert "asked for next" not in labels


def test_bad_input():
    with pytest.raises(ValueError, match="in the plane"):
        selection(learner_in_the_plane(features=3))
    with pytest.raises(ValueError, match="labels must have length 40"):
        selection(learner_in_the_plane(), [0, 1])
