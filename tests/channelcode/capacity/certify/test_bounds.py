"""Both bounds hold for whatever law and multiplier they are given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Binomial, Cloglog, Features, Logistic, Ordinal, Softmax
from channelcode.capacity import (
    Continuous,
    Peak,
    Power,
    Problem,
    Unconstrained,
    capacity,
    certify,
)
from channelcode.errors import InvalidArgument
from tests.channelcode.capacity.oracles import kkt, mutual_information

seeds = st.integers(0, 2**32 - 1)
TOL = 1e-9
CHANNELS = [Logistic(), Ordinal([-2.0, 0.3, 1.5]), Binomial(3), Cloglog()]
CAPACITY = [[capacity(c, Power(p)).bits * np.log(2) for p in (0.3, 4.0)] for c in CHANNELS]


@settings(max_examples=40)
@given(
    st.sampled_from(range(len(CHANNELS))),
    st.sampled_from([0, 1]),
    seeds,
    st.floats(-3.0, 0.0).map(lambda e: 10.0**e),
)
def test_line_bounds_hold_on_a_dense_grid(which, level, seed, multiplier):
    """Any measure and any s > 0: F on a grid of ours is below the upper bound, and so is C."""
    channel, power = CHANNELS[which], (0.3, 4.0)[level]
    rng = np.random.default_rng(seed)
    atoms = np.sort(rng.normal(0.0, 1.5, 4))
    weights = rng.dirichlet(np.ones(4))
    problem = Problem(channel, Power(power))
    bounds = certify(problem, atoms, weights, multiplier, tol=TOL)
    grid = np.concatenate([np.linspace(-40.0, 40.0, 16001), atoms])
    output = weights @ channel.prob(atoms)
    heights = kkt(channel.prob(grid), output, grid**2 - power, multiplier)
    assert bounds.upper >= min(heights.max(), np.log(channel.num_outputs)) - 1e-13
    assert bounds.upper >= CAPACITY[which][level] - 1e-9
    assert 0.0 <= bounds.lower <= CAPACITY[which][level] + 1e-9
    assert bounds.lower <= bounds.upper
    # and not far above: the grid of step 0.005 is off by F'' step^2 / 8, F'' < 10 here
    assert bounds.upper <= heights.max() + 1e-4


@settings(max_examples=25)
@given(seeds, st.floats(1.0, 20.0))
def test_a_law_that_overspends_is_held_to_its_share(seed, factor):
    """The lower bound is met by mixing with the cheapest atom, a law within the budget."""
    rng = np.random.default_rng(seed)
    atoms, weights = rng.normal(size=3), rng.dirichlet(np.ones(3))
    spent = float(weights @ atoms**2)
    cheapest = int(np.argmin(atoms**2))
    budget = atoms[cheapest] ** 2 + (spent - atoms[cheapest] ** 2) / factor
    bounds = certify(Problem(Logistic(), Power(budget)), atoms, weights, 0.05, tol=TOL)
    mixed = weights / factor
    mixed[cheapest] += 1.0 - 1.0 / factor
    assert mixed @ atoms**2 <= budget * (1 + 1e-12)
    assert bounds.lower <= mutual_information(Logistic().prob(atoms), mixed) + 1e-14


def test_a_better_law_narrows_the_interval():
    best = capacity(Ordinal([-1.0, 1.0]), Power(4.0), solver=Continuous())
    problem, s = best.problem, best.multiplier * np.log(2)
    gaps = []
    for shift in (0.3, 0.03, 0.0):
        atoms = np.array(best.input.atoms) * (1.0 - shift)
        bounds = certify(problem, atoms, best.input.weights, s, tol=TOL)
        gaps.append(bounds.upper - bounds.lower)
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2]
    assert gaps[2] <= 1e-9


def test_a_plane_by_search():
    head = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    rng = np.random.default_rng(5)
    atoms, weights = rng.normal(size=(4, 2)), rng.dirichlet(np.ones(4))
    bounds = certify(Problem(head, Power(4.0)), atoms, weights, 0.1, tol=TOL)
    side = np.linspace(-8.0, 8.0, 321)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    output = weights @ head.prob(atoms)
    heights = kkt(head.prob(grid), output, (grid**2).sum(axis=1) - 4.0, 0.1)
    assert heights.max() <= bounds.upper <= heights.max() + 0.01
    assert "multi-start" in bounds.scope


def test_saturation_needs_no_search():
    bounds = certify(
        Problem(Ordinal([0.0]), Unconstrained()),
        np.array([-800.0, 800.0]),
        np.array([0.5, 0.5]),
        0.0,
        tol=TOL,
    )
    assert bounds.upper == pytest.approx(np.log(2), abs=1e-15)
    assert bounds.upper - bounds.lower <= 1e-14
    assert "log |Y|" in bounds.scope


def test_a_peak_bounds_the_search():
    problem = Problem(Logistic(), Peak(1.5))
    bounds = certify(problem, np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 0.0, tol=TOL)
    ends = kkt(Logistic().prob(np.array([-1.5, 1.5])), np.array([0.5, 0.5]), 0.0, 0.0)
    assert bounds.upper == pytest.approx(ends.max(), abs=1e-9)
    assert bounds.scope.startswith("[-1.5, 1.5]")


@pytest.mark.parametrize(
    ("constraint", "atoms"),
    [
        (Power(1.0), [-2.0, 2.0]),  # no atom within the budget
        (Power(1.0), [-2.0, 3.0]),
        (Peak(1.0), [-1.0, 1.5]),
        (Power(4.0) & Peak(1.0), [-1.5, 1.5]),
    ],
)
def test_a_law_outside_the_limits_proves_nothing_below(constraint, atoms):
    bounds = certify(
        Problem(Logistic(), constraint), np.array(atoms), np.array([0.5, 0.5]), 0.05, tol=TOL
    )
    assert bounds.lower == 0.0
    assert bounds.upper >= capacity(Logistic(), constraint).nats - 1e-12


def test_a_law_on_the_peak_is_within_it():
    # in R^k a point drawn back to the peak may be beyond it by rounding
    atoms = np.array([[0.6, 0.8], [-0.6, -0.8]]) * (1.0 + 2.0**-52)
    head = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    bounds = certify(Problem(head, Peak(1.0)), atoms, np.array([0.5, 0.5]), 0.0, tol=TOL)
    assert bounds.lower > 0.1


@pytest.mark.parametrize("multiplier", [-0.1, np.nan])
def test_a_price_below_zero_is_refused(multiplier):
    problem = Problem(Logistic(), Power(9.0) & Peak(1.0))
    with pytest.raises(InvalidArgument, match="multiplier"):
        certify(problem, np.array([-1.0, 1.0]), np.array([0.5, 0.5]), multiplier, tol=TOL)
