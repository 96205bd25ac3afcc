"""Fewer letters than outputs: against the other interior point and cvxpy's answer."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.capacity.solvers.few_letters import maximise_few
from channelcode.capacity.solvers.letters import prepare


def alphabet_of(seed, budgeted):
    rng = np.random.default_rng(seed)
    letters, outputs = int(rng.integers(2, 12)), int(rng.integers(12, 40))
    rows = rng.dirichlet(np.full(outputs, rng.uniform(0.1, 2.0)), letters)
    cost = rng.uniform(0.0, 1.0, letters)
    budget = cost.min() + rng.uniform(0.05, 0.5) if budgeted else np.inf
    points = np.arange(float(letters))
    with np.errstate(divide="ignore"):
        return prepare(points, np.log(rows), cost, budget)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.booleans())
def test_the_gap_closes(seed, budgeted):
    alphabet = alphabet_of(seed, budgeted)
    weights, multiplier, _ = maximise_few(alphabet, tol=1e-10)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (weights > 0).all()
    assert multiplier >= 0
    if alphabet.budget < np.inf:
        assert weights @ alphabet.cost <= 1.0 + 1e-12
    assert alphabet.gap(weights, multiplier) <= 1e-9


def test_agrees_with_cvxpy():
    alphabet = alphabet_of(5, True)
    weights, multiplier, _ = maximise_few(alphabet, tol=1e-11)
    p = cp.Variable(len(alphabet.cost), nonneg=True)
    value = cp.sum(cp.entr(alphabet.matrix.T @ p)) - alphabet.entropy @ p
    limits: Any = [cp.sum(p) == 1]
    if alphabet.budget < np.inf:
        limits.append(alphabet.cost @ p <= 1.0)
    best: Any = cp.Problem(cp.Maximize(value), limits).solve(solver="CLARABEL")
    found = float(weights @ (alphabet.kkt(weights, 0.0)))
    assert found == pytest.approx(float(best), abs=1e-7)  # Clarabel's default accuracy
    assert multiplier >= 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("budget", [1e-150, 1e-149])
def test_tiny_budgets_give_no_warning(budget):
    """Prices and slacks of weights next to nothing overflowed in the step."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        letters, outputs = int(rng.integers(2, 6)), int(rng.integers(6, 12))
        rows = rng.dirichlet(np.ones(outputs), letters)
        cost = np.append(0.0, rng.uniform(0.1, 1.0, letters - 1))
        alphabet = prepare(np.arange(float(letters)), np.log(rows), cost, budget)
        weights, multiplier, _ = maximise_few(alphabet, tol=0.0)
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert weights @ alphabet.cost <= 1.0 + 1e-9
        assert np.isfinite(multiplier)
