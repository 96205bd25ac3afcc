"""Finite alphabets at budgets next to the least cost, against sums of 400 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from channelcode import Cost, DiscreteChannel, Power, Status, capacity
from channelcode.capacity import InteriorPoint, Problem
from channelcode.capacity.solvers.spare_budget import spare_budget_law

PAIRS = {
    "same outputs": [[0.9, 0.1], [0.2, 0.8]],
    "a new output": [[1.0, 0.0], [0.3, 0.7]],
    "both": [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]],
}


def exact(rows, power):
    """C and dC/dP in bits for two letters, the second at cost 2."""
    with mp.workdps(400):
        off, on = ([mp.mpf(x) for x in row] for row in rows)
        share = mp.mpf(power) / 2

        def nats(p):
            pairs = [(a, b, (1 - p) * a + p * b) for a, b in zip(off, on)]
            return sum(
                w * x * mp.log(x / q) for a, b, q in pairs for w, x in ((1 - p, a), (p, b)) if x
            )

        slope = mp.diff(nats, share, h=share * mp.mpf(10) ** -60) / 2
        return float(nats(share) / mp.log(2) / power), float(slope / mp.log(2))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("power", [1e-8, 1e-12, 1e-50, 1e-200, 1e-300])
def test_two_letters(name, power):
    """At 1e-200 the multiplier was 2e21, and at 1e-320 numbers overflowed."""
    result = capacity(DiscreteChannel(PAIRS[name]), Cost(lambda l: 2.0 * l, power))
    rate, slope = exact(PAIRS[name], power)
    assert result.bits / power == pytest.approx(rate, rel=1e-10)
    assert result.multiplier == pytest.approx(slope, rel=1e-7)
    assert result.status is Status.OPTIMAL


def test_letters_that_share_the_least_cost():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(4, 0.5), 6)
    price = np.array([1.0, 1.0, 1.0, 2.0, 5.0, 9.0])
    found = [
        capacity(DiscreteChannel(rows), Cost(lambda l: price[l.astype(int)], 1.0 + spare))
        for spare in (1e-6, 1e-12)
    ]
    assert [r.stats.method for r in found] == ["InteriorPoint", "SpareBudget"]
    assert found[1].bits == pytest.approx(found[0].bits, abs=2e-7)
    assert found[1].multiplier == pytest.approx(found[0].multiplier, rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_many_letters_with_new_outputs(seed):
    """Near 1e-7 the interior point agrees to what it can resolve."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(5, 0.4), 6)
    rows[0, 3:] = 0.0
    rows /= rows.sum(axis=1, keepdims=True)
    price = np.append(0.0, rng.uniform(1.0, 4.0, 5))
    problem = Problem(DiscreteChannel(rows), Cost(lambda l: price[l.astype(int)], 9e-8))
    mine = capacity(problem.channel, problem.constraint)
    other = capacity(problem.channel, problem.constraint, solver=InteriorPoint())
    assert mine.stats.method == "SpareBudget"
    assert mine.lower >= other.lower - 1e-13
    assert mine.multiplier == pytest.approx(other.multiplier, rel=1e-2)
    assert mine.gap <= 1e-12


def test_budgets_that_are_not_small_are_left_alone():
    channel = DiscreteChannel(PAIRS["both"])
    assert spare_budget_law(Problem(channel, Power(1e-3)), tol=1e-9) is None
    assert spare_budget_law(Problem(channel, Power(0.0)), tol=1e-9) is None


@pytest.mark.parametrize("power", [1e-310, 1e-320])
def test_subnormal_powers(power):
    """A mean cost a last place above the budget was refused."""
    result = capacity(DiscreteChannel(PAIRS["same outputs"]), Power(power))
    assert result.bits / power == pytest.approx(
        exact(PAIRS["same outputs"], 1e-200)[0] * 2, rel=1e-3
    )
