"""Costs with walls, far valleys and many valleys."""

import numpy as np
import pytest

from channelcode import (
    Cost,
    Features,
    InteriorPoint,
    Logistic,
    Ordinal,
    Peak,
    Power,
    Probit,
    Softmax,
    Status,
    capacity,
    restrict,
)


def best_of_two(first: float, second: float) -> float:
    """The capacity in bits of two inputs with these probabilities of the output 1, on a grid."""
    share = np.linspace(0.0, 1.0, 200_001)[1:-1]

    def entropy(p):
        p = np.clip(p, 1e-300, 1.0)
        q = np.clip(1.0 - p, 1e-300, 1.0)
        return -(p * np.log2(p) + q * np.log2(q))

    mixed = share * first + (1.0 - share) * second
    return float(np.max(entropy(mixed) - share * entropy(first) - (1.0 - share) * entropy(second)))


@pytest.mark.parametrize("budget", [1.0, 2.0])
def test_a_wall_is_a_peak(budget):
    walled = Cost(lambda l: np.where(np.abs(l) <= 1.0, l**2, np.inf), budget)
    found = capacity(Logistic(), walled)
    assert found.bits == pytest.approx(capacity(Logistic(), Peak(1.0)).bits, abs=1e-9)
    assert found.multiplier == pytest.approx(0.0, abs=1e-6)


def test_below_the_wall_the_budget_decides():
    walled = Cost(lambda l: np.where(np.abs(l) <= 1.0, l**2, np.inf), 0.5)
    assert capacity(Logistic(), walled).bits == pytest.approx(
        capacity(Logistic(), Power(0.5)).bits, abs=1e-9
    )


def test_walls_between_probes_and_around_another_place():
    walled = Cost(lambda l: np.where(np.abs(l - 0.3) <= 2.0, (l - 0.3) ** 2, np.inf), 5.0)
    moved = capacity(Ordinal((-1.3, 0.7)), Peak(2.0))
    assert capacity(Ordinal((-1.0, 1.0)), walled).bits == pytest.approx(moved.bits, abs=1e-9)


def test_an_island_of_free_inputs_far_from_a_free_plateau():
    """Thousands of probes on the plateau are one valley; before, they hid the other."""
    free = Cost(lambda l: np.where((np.abs(l) <= 0.5) | (np.abs(l - 20.0) < 0.1), 0.0, np.inf), 1.0)
    found = capacity(Probit(), free)
    exact = best_of_two(float(Probit().prob(np.array([-0.5]))[0, 1]), 1.0)
    assert found.lower <= exact + 1e-9
    assert found.upper >= exact - 1e-9
    assert found.gap <= 1e-9


def test_a_far_dip_beside_a_plateau_is_found():
    def cost(l):
        dip = np.square(l - 30.0) / 0.01
        return np.minimum(np.maximum(np.abs(l) - 0.5, 0.0) ** 2, dip)

    found = capacity(Logistic(), Cost(cost, 1e-3), throw=False)
    reached = best_of_two(float(Logistic().prob(np.array([-0.5]))[0, 1]), 1.0)
    assert found.upper >= reached - 1e-6


def squares(l):
    return np.square(l).sum(axis=-1)


@pytest.mark.slow
def test_a_wall_around_softmax_is_a_peak():
    """0 bits and STALLED before: climbs left the wall behind where the budget is not used up."""
    walled = Cost(lambda l: np.where(squares(l) <= 4.0, squares(l), np.inf), 5.0)
    found = capacity(Softmax(3), walled)
    assert found.bits == pytest.approx(capacity(Softmax(3), Peak(2.0)).bits, abs=1e-9)
    assert found.multiplier == 0.0
    assert (walled.function(found.input.atoms) < np.inf).all()


@pytest.mark.slow
def test_a_box_in_the_plane():
    head = Features(Softmax(3), np.array([[1.0, 0.0], [0.3, 1.0], [-1.0, -1.0]]))
    walled = Cost(lambda l: np.where(np.abs(l).max(axis=-1) <= 1.0, 0.0, np.inf), 1.0)
    found = capacity(head, walled)
    side = np.linspace(-1.0, 1.0, 41)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    rows = head.prob(grid)
    # no input of the box breaks KKT: the best law is at its corners, which the grid holds
    gains = (rows * np.log2(rows / found.output)).sum(axis=1)
    assert gains.max() <= found.upper + 1e-9
    assert found.gap <= 1e-9


def far_dip(l):
    return np.where(np.abs(np.abs(l) - 1000.0) < 1.0, 0.0, l**2)


def test_a_cost_that_declares_nothing_is_proved_for_what_was_looked_at():
    """A free valley at 1000 carries one bit; 0.16 was called OPTIMAL on the real line."""
    found = capacity(Logistic(), Cost(far_dip, 1.0))
    assert found.status is Status.WITHIN_SCOPE
    assert found.scope.startswith("inputs within [-")
    named = capacity(Logistic(), Cost(far_dip, 1.0, cheap=(-1000.0, 1000.0), rises=1001.0))
    assert named.bits == pytest.approx(1.0)


@pytest.mark.parametrize("limit", [Cost(np.abs, 1.0, rises=0.0), Cost(np.abs, 1.0) & Peak(100.0)])
def test_a_cost_that_rises_is_proved(limit):
    found = capacity(Logistic(), limit)
    assert found.status is Status.OPTIMAL
    assert found.bits == pytest.approx(capacity(Logistic(), Cost(np.abs, 1.0)).bits, abs=1e-12)


@pytest.mark.parametrize("budget", [0.005, 0.02])
def test_a_cost_with_hundreds_of_valleys(budget):
    """Only the cheapest 32 were known, and the rest lay between probes: a gap of 0.1 bits."""

    def cost(l):
        return np.abs(l) * (1.001 + np.sin(20.0 * l))

    places = (2.0 * np.pi * np.arange(-100, 100) - 0.5 * np.pi) / 20.0
    grid = np.unique([*places, *np.linspace(-30.0, 30.0, 1201)])
    known = capacity(restrict(Probit(10.0), grid), Cost(cost, budget), solver=InteriorPoint())
    found = capacity(Probit(10.0), Cost(cost, budget))
    assert known.lower <= found.upper
    assert found.bits >= known.bits - 1e-9
    assert found.gap <= 1e-9
