"""Counts under small powers with a peak: two inputs, against sums of forty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from channelcode import Peak, Poisson, Power, Status, capacity
from channelcode.capacity.noise.poisson_pair import best_pair, poisson_pair
from channelcode.capacity.problem import Problem


def information(dark, atoms, weights):
    """I of a law with few atoms in bits, digit by digit."""
    with mp.workdps(40):
        rates = [mp.mpf(float(a)) + mp.mpf(dark) for a in atoms]
        weights = [mp.mpf(float(w)) for w in weights]
        total = mp.mpf(0)
        for y in range(60):
            rows = [mp.exp(-r) * r**y / mp.factorial(y) for r in rates]
            pairs = list(zip(weights, rows, strict=True))
            mixed = sum(w * p for w, p in pairs)
            total += sum(w * p * mp.log(p / mixed, 2) for w, p in pairs if p)
        return float(total)


@pytest.mark.parametrize("dark", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("peak", [8.0, 100.0, np.inf])
@pytest.mark.parametrize("power", [1e-8, 1e-6, 1e-2])
def test_a_level_far_below_the_peak(dark, peak, power):
    """Power(1e-6) & Peak(8) ended with 8.9e-4 bits of 1.06e-3 and a gap of 2.2e-3."""
    limit = Power(power) if peak == np.inf else Power(power) & Peak(peak)
    found = capacity(Poisson(dark), limit)
    assert found.status is Status.OPTIMAL
    assert len(found.input) == 2
    exact = information(dark, found.input.atoms, found.input.weights)
    assert found.bits == pytest.approx(exact, abs=1e-14)
    assert found.lower <= exact * (1 + 1e-14) <= found.upper * (1 + 1e-14)


def test_no_feasible_law_is_above():
    """Laws of two and three inputs drawn at random, within power and peak."""
    rng = np.random.default_rng(11)
    for dark, power, peak in ((0.0, 1e-4, 8.0), (0.1, 1e-2, 0.2), (1.0, 1.0, 4.0)):
        upper = capacity(Poisson(dark), Power(power) & Peak(peak)).upper
        for _ in range(60):
            atoms = np.append(0.0, peak * 10.0 ** rng.uniform(-3.0, 0.0, 2))
            weights = rng.dirichlet([1.0, 1.0]) * min(1.0, power / (atoms[1:] ** 2).max())
            law = np.append(1.0 - weights.sum(), weights)
            assert information(dark, atoms, law) <= upper


def test_where_two_inputs_will_not_do():
    for dark, power in ((0.0, 3.9), (0.0, 5.0)):
        problem = Problem(Poisson(dark), Power(power))
        assert poisson_pair(problem, tol=1e-9, throw=False, started=0.0) is None
    assert best_pair(Poisson(0.0), 1.0, 1.0) is None  # the power does not bind
    assert len(capacity(Poisson(0.0), Power(3.9), throw=False).input) > 2
