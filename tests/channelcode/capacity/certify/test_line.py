"""The bound between probes: never below the function, and close to it at the end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Binomial, Lapse, Link, Logistic, Ordinal, Probit, Unconstrained
from channelcode.capacity import Continuous, Cost, Peak, Power, Problem, capacity
from channelcode.capacity.certify.line import _box, line_bound
from channelcode.capacity.law_value import law_value
from channelcode.capacity.search.line import probe
from tests.channelcode.capacity.hostile import bump
from tests.channelcode.capacity.oracles import Short, kkt

TOL = 1e-9
CHANNELS = [
    Logistic(),
    Probit(0.7),
    Ordinal([-2.0, 0.3, 1.5]),
    Binomial(4),
    Link(lambda l: 0.5 + 0.4 * np.sin(3 * l) * np.exp(-(l**2) / 8)),
]
seeds = st.integers(0, 2**32 - 1)


def found_of(channel, atoms, weights):
    return law_value(channel.log_prob(atoms), weights)


@settings(max_examples=40)
@given(st.sampled_from(range(len(CHANNELS))), seeds, st.floats(-3.0, 0.0).map(lambda e: 10.0**e))
def test_above_every_point_and_tight(which, seed, multiplier):
    channel = CHANNELS[which]
    rng = np.random.default_rng(seed)
    atoms, weights = rng.normal(0.0, 1.5, 3), rng.dirichlet(np.ones(3))
    found = found_of(channel, atoms, weights)
    upper, scope, _ = line_bound(Problem(channel, Power(2.0)), atoms, found, multiplier, TOL)
    grid = np.concatenate([np.linspace(-30.0, 30.0, 24_001), atoms])
    heights = kkt(channel.prob(grid), found.output, grid**2 - 2.0, multiplier)
    assert upper >= heights.max() - 1e-13
    # a law that overspends may carry more than the bound, and the search stops there
    top = max(heights.max(), found.nats)
    # the grid of step 0.0025 misses F'' step^2 / 8 of a top, with F'' below 20 here
    assert upper <= top + 2e-5
    assert "tails by the multiplier" in scope


@pytest.mark.parametrize("channel", CHANNELS)
def test_boxes_hold_the_divergence(channel):
    q = np.random.default_rng(1).dirichlet(np.ones(channel.num_outputs))
    grid = np.linspace(-6.0, 6.0, 241)
    known = probe(Problem(channel, Power(1.0)), grid)
    box = _box(known, q, np.arange(240))
    inside = grid[:-1, None] + 0.05 * np.linspace(0.0, 1.0, 101)
    truth = kkt(channel.prob(inside), q, 0.0, 0.0).max(axis=1)
    assert (box >= truth - 1e-13).all()
    assert (box - truth).max() < 0.5


def test_a_narrow_peak_is_split_until_it_is_held():
    # a bump of width 0.03, seen by the probes' spacing of 0.013 but not resolved by it
    narrow = Link(lambda l: 0.5 + 0.45 * np.exp(-(((l - 1.234) / 0.015) ** 2)))
    atoms, weights = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    found = found_of(narrow, atoms, weights)
    upper, _, _ = line_bound(Problem(narrow, Power(2.0)), atoms, found, 0.05, TOL)
    top = kkt(narrow.prob(np.array([1.234])), found.output, np.array([1.234**2 - 2.0]), 0.05)[0]
    assert top - 1e-12 <= upper <= top + 1e-4  # the slope of the cost moves the top a little


def test_a_jump_is_held():
    step = Link(lambda l: np.where(l > 0.777, 0.9, 0.2))
    atoms, weights = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    found = found_of(step, atoms, weights)
    upper, _, _ = line_bound(Problem(step, Power(0.5)), atoms, found, 0.1, TOL)
    near = np.array([0.777 + 1e-12, 0.0])
    truth = kkt(step.prob(near), found.output, near**2 - 0.5, 0.1).max()
    assert upper >= truth - 1e-12
    assert upper <= truth + 1e-6


def test_an_atom_next_to_a_probe_needs_no_splitting():
    # atoms of power 1 differ from the probe at 1 by rounding: differences across such a gap
    # would be noise, and the intervals around it would be split again and again
    near = 1.0 + np.array([3e-16, -2e-16])
    atoms, weights = np.array([-near[0], near[1]]), np.array([0.5, 0.5])
    channel = Ordinal([-1.0, 1.0])
    best = capacity(channel, Power(1.0), solver=Continuous())
    price = best.multiplier * np.log(2)
    found = found_of(channel, atoms, weights)
    upper, scope, _ = line_bound(Problem(channel, Power(1.0)), atoms, found, price, TOL)
    assert upper == pytest.approx(best.nats, abs=TOL)
    assert int(scope.split("between ")[1].split()[0]) < 2200


def test_scopes():
    atoms, weights = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    found = found_of(Logistic(), atoms, weights)
    peaked = line_bound(Problem(Logistic(), Peak(1.5)), atoms, found, 0.0, TOL)
    assert peaked.scope.startswith("[-1.5, 1.5]")
    assert peaked.nats == pytest.approx(
        kkt(Logistic().prob(np.array([1.5])), found.output, 0.0, 0.0)[0], abs=TOL
    )
    own = line_bound(Problem(Logistic(), Cost(np.abs, 1.0)), atoms, found, 0.1, TOL)
    assert "the cost rules every probe out" in own.scope
    near = line_bound(Problem(Short(), Power(1.0)), atoms, found, 0.1, TOL)
    far = line_bound(Problem(Short(), Power(1.0)), atoms, found, 0.001, TOL)
    assert near.scope.endswith("tails by the multiplier")  # the reach ends before the numbers do
    assert near.complete
    assert far.scope.endswith("beyond, the channel returns no numbers")
    assert far.scope.startswith("inputs within [")
    assert not far.complete


def test_who_declares_its_tails_is_proved_on_the_whole_line():
    atoms, weights = np.array([-40.0, 40.0]), np.array([0.5, 0.5])
    declared = Lapse(Logistic(), low=0.1, high=0.1)
    black = Link(lambda l: 0.1 + 0.8 / (1 + np.exp(-l)))
    for channel, complete in ((declared, True), (black, False)):
        found = found_of(channel, atoms, weights)
        bound = line_bound(Problem(channel, Unconstrained()), atoms, found, 0.0, TOL)
        assert bound.nats == pytest.approx(found.nats, abs=TOL)
        assert bound.complete is complete
        assert bound.scope.startswith("the real line" if complete else "inputs within [")
    assert (
        "as the channel declares"
        in line_bound(
            Problem(declared, Unconstrained()), atoms, found_of(declared, atoms, weights), 0.0, TOL
        ).scope
    )


def test_an_output_that_the_law_misses_does_not_end_the_search():
    """W(y|l) > 0 = q_y makes D infinite: the bound must see it however far out it is."""
    channel = bump(12.41, 0.05, 0.9, Logistic())
    atoms, weights = np.array([-4.0, 4.0]), np.array([0.5, 0.5])
    found = found_of(channel, atoms, weights)
    bound = line_bound(Problem(channel, Power(20.0)), atoms, found, 0.01, TOL)
    assert bound.nats > 1.03 * np.log(2)  # a law that uses the bump carries 1.028 bits
    assert "every 0." in bound.scope
