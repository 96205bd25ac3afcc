"""One row serves as an integer; several do not."""

import numpy as np
import pytest

from apm import Laplace, Learner, MaxVariance, NonLinear, Random, VariationalLogistic
from apm.rounds import Rows
from channelcode import Logistic


def test_one_row_is_an_integer_and_an_array():
    rows = Rows.of(np.array([2]))
    assert int(rows) == 2
    assert ["a", "b", "c"][rows] == "c"
    assert np.arange(5)[rows].tolist() == [2]  # an array selects as an array does
    assert [int(row) for row in rows] == [2]
    assert rows.dtype == np.intp
    assert rows[0].ndim == 0


def test_several_rows_are_not_an_integer():
    rows = Rows.of([3, 1])
    assert rows.tolist() == [3, 1]
    with pytest.raises(TypeError, match="2 rows are not one integer"):
        int(rows)
    with pytest.raises(TypeError, match="2 rows"):
        ["a", "b", "c", "d"][rows]


def test_the_last_two_candidates_have_a_runner_up_and_the_last_one_has_none():
    learner = Learner([[3.0], [1.0], [2.0]], VariationalLogistic(1.0), MaxVariance(), seed=0)
    told = []
    for label in (1, 0, 1):
        row = int(learner.ask())
        learner.tell(row, label)
        told.append(learner.history[-1].scores)
    assert [scores.num_candidates for scores in told] == [3, 2, 1]
    assert [scores.runner_up for scores in told] == [2, 1, None]
    assert told[1].margin > 0
    assert told[2].margin is None


def test_no_bound_is_stated_where_none_is_known():
    """l is not <theta, x>, and the rule looked at no law: nothing bounds the power of a row."""
    encoder = NonLinear(lambda t, rows: 5.0 * np.tanh(rows @ t.T), 1)
    X = np.array([[0.1], [3.0], [-2.0]])
    bent = Learner(X, Laplace(Logistic(), 1.0, encoder=encoder), Random(), seed=0)
    straight = Learner(X, Laplace(Logistic(), 1.0), Random(), seed=0)
    for learner in (bent, straight):
        learner.tell(learner.ask(), 1)
    assert bent.history[0].bound is None
    assert straight.history[0].bound is not None
