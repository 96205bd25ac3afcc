"""Channels with densities under costs of one's own: dips between letters, corners at zero."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, rel_entr, xlogy

from channelcode import (
    AdditiveGaussian,
    AdditiveLaplace,
    Cost,
    InvalidArgument,
    Peak,
    Poisson,
    Power,
    capacity,
)


def dipped(place, width):
    """About one everywhere but near `place`."""
    return lambda l: 1.0 - np.exp(-0.5 * ((l - place) / width) ** 2) + 0.01 * np.abs(l)


@pytest.mark.parametrize(("place", "width"), [(3.99, 0.3), (13.99, 0.02)])
def test_counts_under_a_cost_with_a_dip(place, width):
    """No letter of an even grid keeps the budget: KKT is checked by sums of its own."""
    cost, budget = dipped(place, width), 0.177
    result = capacity(Poisson(), Cost(cost, budget) & Peak(20.0))
    assert result.input.weights @ cost(result.input.atoms) <= budget * (1 + 1e-12)
    counts = np.arange(120.0)

    def rows(l):
        return np.exp(xlogy(counts, l[:, None]) - l[:, None] - gammaln(counts + 1))

    output = result.input.weights @ rows(result.input.atoms)
    grid = np.union1d(np.linspace(0, 20, 4001), place + np.linspace(-1, 1, 4001) * 5 * width)
    price = result.multiplier * np.log(2)
    top = (rel_entr(rows(grid), output).sum(axis=1) - price * (cost(grid) - budget)).max()
    at_atoms = rel_entr(rows(result.input.atoms), output).sum(axis=1)
    assert result.lower * np.log(2) <= result.input.weights @ at_atoms + 1e-12
    assert top <= result.upper * np.log(2) + 1e-12
    assert result.gap < 1e-9


def test_gaussian_noise_under_a_narrow_dip():
    """The same cost seen from a range whose letters miss the dip by a thousand widths."""
    result = capacity(AdditiveGaussian(), Cost(dipped(5.123, 0.002), 0.7) & Peak(8.0))
    assert result.gap < 1e-9
    assert np.abs(result.input.atoms - 5.123).min() < 1e-2


def test_a_budget_below_every_cost_found_is_refused():
    with pytest.raises(InvalidArgument, match=r"least cost found, 0\.02999"):
        capacity(Poisson(), Cost(dipped(3.0, 0.3), 0.02) & Peak(20.0))


@pytest.mark.slow  # seventeen seconds
def test_laplace_noise_under_the_mean_size():
    """E|L| <= P is met with 1e-3 bits to spare by probes that miss the corner at zero."""
    result = capacity(AdditiveLaplace(), Cost(np.abs, 1.0), throw=False)
    assert result.gap < 1e-6
    assert result.upper < np.log2(1 + 1.0)


@pytest.mark.parametrize("budget", [1e-3, 0.05])
def test_rare_letters_far_beyond_a_small_budget(budget):
    """A level sent now and then carries more than sixteen budgets' worth of letters can."""
    result = capacity(Poisson(0.1), Cost(np.abs, budget), throw=False)
    counts = np.arange(80.0)
    law = np.array([1.0 - budget / 2.5, budget / 2.5])
    rates = np.array([[0.1], [2.6]])
    rows = np.exp(xlogy(counts, rates) - rates - gammaln(counts + 1))
    known = law @ rel_entr(rows, law @ rows).sum(axis=1) / np.log(2)
    assert result.upper >= result.lower > known - 1e-9
    assert result.gap < 1e-8


@pytest.mark.parametrize("channel", [AdditiveGaussian, AdditiveLaplace])
@pytest.mark.parametrize("exponent", [-400, 300])
def test_any_unit_under_a_cost(channel, exponent):
    unit = 2.0**exponent
    cost, wide = Cost(np.square, 0.1), Cost(lambda l: (l / unit) ** 2, 0.1)
    one = capacity(channel(1.0), cost & Peak(2.0))
    found = capacity(channel(unit), wide & Peak(2.0 * unit))
    assert found.bits == pytest.approx(one.bits, abs=1e-9)
    assert found.multiplier == pytest.approx(one.multiplier, rel=1e-5)
    assert np.abs(found.input.atoms).max() <= 2.0 * unit


@pytest.mark.parametrize("exponent", [-400, 400])
def test_laplace_noise_under_a_power_and_a_peak_in_any_unit(exponent):
    """Was an OverflowError from scale^-3."""
    unit = 2.0**exponent
    one = capacity(AdditiveLaplace(1.0), Power(0.3) & Peak(0.8))
    found = capacity(AdditiveLaplace(unit), Power(0.3 * unit**2) & Peak(0.8 * unit))
    assert found.bits == pytest.approx(one.bits, abs=1e-9)
    assert found.multiplier * unit**2 == pytest.approx(one.multiplier, rel=1e-6)


def test_a_wall_of_the_cost_gives_no_warning():
    unit = 0.001
    wall = Cost(lambda l: np.where(np.abs(l) <= 2 * unit, np.abs(l / unit), np.inf), 0.003366)
    found = capacity(AdditiveGaussian(unit), wall, throw=False)
    assert found.gap < 1e-9
    assert np.abs(found.input.atoms).max() <= 2 * unit


@pytest.mark.parametrize("channel", [AdditiveGaussian(), Poisson(1.0)])
def test_walls_at_any_distance(channel):
    """What lies beyond a wall is not looked at, whatever the peak says."""
    for end in (0.01, 2.0):
        wall = Cost(lambda l, end=end: np.where(np.abs(l) <= end, np.abs(l), np.inf), 0.3 * end)
        near = capacity(channel, Cost(np.abs, 0.3 * end) & Peak(end))
        for found in (capacity(channel, wall), capacity(channel, wall & Peak(50.0))):
            assert np.abs(found.input.atoms).max() <= end
            assert found.bits == pytest.approx(near.bits, abs=2e-9)
