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
    Status,
    capacity,
)
from channelcode.information.densities import atoms_information


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


def carried(channel, *letters):
    """Bits of letters that are sent equally often."""
    share = np.full(len(letters), 1.0 / len(letters))
    return atoms_information(channel, np.array(letters), share).nats / np.log(2)


FAR = 1000.0317


def test_a_dip_that_no_probe_sees_is_no_part_of_the_scope():
    """Was OPTIMAL on [-2000, 2000] at 0.039 bits, where two free letters carry one."""

    def cost(l):
        return np.where(np.abs(np.abs(l) - FAR) < 0.004, 0.0, 1e-4 * np.square(l))

    channel = AdditiveGaussian(300.0)
    found = capacity(channel, Cost(cost, 0.5) & Peak(2000.0))
    assert found.upper < carried(channel, -FAR, FAR)
    assert found.status is Status.WITHIN_SCOPE
    assert found.scope.startswith("inputs within [-64, 64], and only those looked at further out")


@pytest.mark.parametrize("rises", [0.0, 50.0])
def test_a_cost_that_declares_to_rise_is_proved_up_to_any_peak(rises):
    cost = Cost(lambda l: 1e-4 * np.square(l), 0.5, rises=rises)
    found = capacity(AdditiveGaussian(300.0), cost & Peak(2000.0))
    power = capacity(AdditiveGaussian(300.0), Power(5e3))
    assert found.status is Status.OPTIMAL
    assert found.bits == pytest.approx(power.bits, abs=1e-9)


def test_an_island_of_dear_inputs_beyond_many_cheap_ones():
    """Beyond the 32 cheapest valleys an island was taken for a wall: OPTIMAL at 1.4331."""

    def cost(l):
        island = np.where(np.abs(l - 80.15) < 0.15, 2.5, np.inf)
        return np.where(np.abs(l) <= 20.0, 1.0 + np.cos(10.0 * l), island)

    near = 0.1 * np.pi * np.array([3, 21, 41])
    found = capacity(Poisson(), Cost(cost, 2.0) & Peak(100.0), throw=False)
    assert found.upper >= carried(Poisson(), *near, 80.2)
    assert found.scope.startswith("[0, 80.3")


def walled(l):
    return np.where(np.abs(l) <= 2.0, np.square(l), np.inf)


@pytest.mark.parametrize("channel", [AdditiveGaussian(), Poisson(1.0)])
def test_a_wall_ends_the_inputs_if_the_cost_falls_nowhere(channel):
    """Eighteen steps of a tenth of a decade end at 1.995: the proof must reach the wall itself."""
    known = capacity(channel, Power(0.5) & Peak(2.0))
    for rises, status in (
        (0.0, Status.OPTIMAL),
        (1.0, Status.OPTIMAL),
        (100.0, Status.WITHIN_SCOPE),
    ):
        found = capacity(channel, Cost(walled, 0.5, rises=rises))
        assert found.status is status
        assert found.bits == pytest.approx(known.bits, abs=2e-9)
        assert found.scope.startswith("inputs within") is (status is Status.WITHIN_SCOPE)


def test_an_island_beyond_a_wall_is_no_part_of_the_scope():
    def cost(l):
        return np.where(np.abs(l - FAR) < 0.004, 0.0, walled(l))

    for limit in (Cost(cost, 0.5), Cost(cost, 0.5) & Peak(2000.0)):
        found = capacity(AdditiveGaussian(), limit)
        assert found.upper < carried(AdditiveGaussian(), 0.0, FAR)
        assert found.status is Status.WITHIN_SCOPE
        assert found.scope.startswith("inputs within [-2, 2]")


def test_the_scope_says_how_closely_a_cost_was_looked_at():
    found = capacity(Poisson(1.0), Cost(np.abs, 0.5) & Peak(8.0))
    assert found.status is Status.OPTIMAL
    assert found.scope.startswith("[0, 8], the cost looked at every 0.1 up to 8: ")
    rising = capacity(Poisson(1.0), Cost(np.abs, 0.5, rises=0.0) & Peak(8.0))
    assert rising.status is Status.OPTIMAL
    assert rising.scope.startswith("[0, 8]: ")
    assert rising.bits == pytest.approx(found.bits, abs=1e-12)


def test_what_holds_for_every_input_holds_whatever_it_costs():
    """With a budget to spare the multiplier is zero, and the bound asks for no cost."""
    found = capacity(AdditiveGaussian(300.0), Cost(lambda l: 1e-9 * l * l, 1.0) & Peak(600.0))
    assert found.status is Status.OPTIMAL
    assert found.multiplier == 0.0
