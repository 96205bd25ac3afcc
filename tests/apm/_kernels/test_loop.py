"""The compiled loop against its own Python, and its selection against the selector."""

from __future__ import annotations

import numpy as np
import pytest

from apm._kernels.loop import COLUMNS, run, select
from apm.power import FixedPower
from apm.selectors import APM
from apm.selectors.ranking import TIE_RTOL, TIE_SPREAD
from tests.apm.given import given_belief
from tests.kernel_checks import assert_matches_py_func


@pytest.mark.parametrize("power", [6.0, 1e26])
@pytest.mark.parametrize("intercept", [False, True])
def test_selection_is_the_selectors(intercept, power, rng):
    X = rng.normal(size=(30, 3))
    width = 3 + intercept
    root, mean = rng.normal(size=(width, width)), rng.normal(size=width)
    rows = np.hstack([X, np.ones((30, 1))]) if intercept else X
    belief = given_belief(mean, root @ root.T)
    is_open = np.ones(30, dtype=bool)
    is_open[[4, 7]] = False
    scores, row = np.zeros(30), np.zeros(COLUMNS)
    chosen, runner_up = assert_matches_py_func(
        select, X, mean, root, is_open, np.sqrt(2 * power / np.pi), power,
        TIE_RTOL, TIE_SPREAD, scores, row,
    )  # fmt: skip
    selector = APM(FixedPower(power))
    expected = selector.scores(belief, rows)
    assert chosen == selector.select(belief, rows, exclude=~is_open)[0]
    assert runner_up == selector.explain(belief, rows, chosen, exclude=~is_open).runner_up
    select(
        X, mean, root, is_open, np.sqrt(2 * power / np.pi), power,
        TIE_RTOL, TIE_SPREAD, scores, row,
    )  # fmt: skip
    np.testing.assert_allclose(scores[is_open] - power, expected[is_open], rtol=1e-12)
    laws = belief.push(rows)
    assert row[0] == pytest.approx(expected[chosen], rel=1e-12)
    assert row[1] == pytest.approx(expected[runner_up], rel=1e-12)
    assert row[2] == pytest.approx(expected[is_open].mean(), rel=1e-12)
    assert row[3] == pytest.approx(expected[is_open].min(), rel=1e-12)
    assert row[4] == pytest.approx(laws.second_moment[is_open].max(), rel=1e-12)
    assert row[5] == pytest.approx(laws.mean[chosen], rel=1e-12)
    assert row[6] == pytest.approx(laws.total_variance[chosen], rel=1e-12)


def test_run_matches_its_python(rng):
    X = rng.normal(size=(12, 2))
    count = 5
    precision = np.full(2, 0.1)
    precision.setflags(write=False)  # as the posterior passes it: one signature
    arguments = (
        X, (X[:, 0] > 0).astype(np.int64), np.ones(12, dtype=bool), np.zeros((count, 2)),
        np.zeros(count, dtype=np.int64), np.ones(count), np.zeros(count), precision,
        np.zeros(2), np.eye(2) / np.sqrt(0.1), 0, float(np.linalg.norm(X, axis=1).max()), count,
        TIE_RTOL, TIE_SPREAD, 1e-10, 200,
    )  # fmt: skip
    # fixed points of compiled and interpreted sums agree to the tolerance of the posterior
    done, picks, *_ = assert_matches_py_func(run, *arguments, rtol=1e-7, atol=1e-9)
    assert done == count
    assert len(set(picks.tolist())) == count


def test_a_fixed_point_out_of_reach_stops_the_loop(rng):
    X = rng.normal(size=(6, 2))
    precision = np.full(2, 0.1)
    precision.setflags(write=False)
    mean, factor = np.zeros(2), np.eye(2)
    result = run(
        X, np.zeros(6, dtype=np.int64), np.ones(6, dtype=bool), np.zeros((3, 2)),
        np.zeros(3, dtype=np.int64), np.ones(3), np.zeros(3), precision,
        mean, factor, 0, 1.0, 3, TIE_RTOL, TIE_SPREAD, -1.0, 3,
    )  # fmt: skip
    assert result[0] == 0
    np.testing.assert_array_equal(factor, np.eye(2))  # the posterior is as it was
