"""Plans of weighted points to few atoms, on every rung."""

from __future__ import annotations

import numpy as np
import ot
import pytest

from channelcode.transport.solvers.assignment import RUNGS, State, assign, attempt

# POT leaves flows of about 1e-14 of unequal masses unmoved; our plans keep the masses to 1e-15.
POT_ERROR = 2e-12


def best_correlation(scores: np.ndarray, masses: np.ndarray, weights: np.ndarray) -> float:
    return -float(np.asarray(ot.emd2(masses, weights, np.ascontiguousarray(-scores.T))))


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("size", [3, 50, 333])
@pytest.mark.parametrize("rung", range(RUNGS))
def test_closed_means_best(rng, rung, size, even):
    masses = np.full(size, 1 / size) if even else rng.dirichlet(np.ones(size))
    weights = rng.dirichlet(np.full(5, 2.0))
    scores = rng.standard_normal((4, 5, size))
    solved = attempt(scores, masses, weights, State.room(6, 5, size), rung=rung)
    for table, value, closed in zip(scores, solved.primal, solved.closed, strict=True):
        if closed:
            best = best_correlation(table, masses, weights)
            assert value == pytest.approx(best, abs=POT_ERROR)
    if rung == RUNGS - 1:
        assert solved.closed.all()


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("m", [2, 7, 20])
def test_plan_has_the_marginals_and_the_value(rng, m, even):
    size = 200
    masses = np.full(size, 1 / size) if even else rng.dirichlet(np.ones(size))
    weights = rng.dirichlet(np.full(m, 2.0))
    scores = rng.standard_normal((1, m, 2)) @ rng.standard_normal((2, size))
    solved = assign(scores, masses, weights)
    assert solved.closed.all()
    point, atom, amount = solved.plan(masses)
    assert (amount >= 0).all()
    np.testing.assert_allclose(np.bincount(point, amount, size), masses, atol=1e-15)
    np.testing.assert_allclose(np.bincount(atom, amount, m), weights, atol=1e-14)
    assert amount @ scores[0, atom, point] == pytest.approx(solved.primal[0], abs=1e-13)
    assert solved.primal[0] == pytest.approx(
        best_correlation(scores[0], masses, weights), abs=1e-12
    )


def test_ties(rng):
    """Scores of few values: every edge holds many points at once."""
    weights = np.array([0.3, 0.1, 0.25, 0.35])
    masses = np.full(120, 1 / 120)
    for _ in range(20):
        scores = rng.integers(-2, 3, (1, 4, 120)).astype(float)
        solved = assign(scores, masses, weights)
        assert solved.primal[0] == pytest.approx(
            best_correlation(scores[0], masses, weights), abs=1e-13
        )
