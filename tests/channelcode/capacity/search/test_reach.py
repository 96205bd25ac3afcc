"""How far out an input can break KKT, and why not further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Binomial, Cost, Logistic, Ordinal, Peak, Power, Unconstrained
from channelcode.capacity import Problem
from channelcode.capacity.search.reach import End, filled, reach
from channelcode.channels.tails import FARTHEST
from tests.channelcode.capacity.oracles import kkt, mutual_information


@settings(max_examples=30)
@given(
    st.sampled_from([Logistic(), Ordinal([-2.0, 0.3, 1.5]), Binomial(3)]),
    st.integers(0, 2**32 - 1),
    st.floats(-3.0, 1.0).map(lambda e: 10.0**e),
)
def test_nothing_beyond_the_reach_breaks_kkt(channel, seed, multiplier):
    rng = np.random.default_rng(seed)
    atoms, weights = rng.normal(size=3), rng.dirichlet(np.ones(3))
    rows = channel.prob(atoms)
    output, value = weights @ rows, mutual_information(rows, weights)
    radius, end = reach(Problem(channel, Power(1.5)), output, multiplier, value)
    assert end is End.MULTIPLIER
    beyond = radius * np.concatenate([np.geomspace(1.0, 1e3, 2001), -np.geomspace(1.0, 1e3, 2001)])
    assert kkt(channel.prob(beyond), output, beyond**2 - 1.5, multiplier).max() <= value + 1e-11


def test_what_ends_the_line():
    q = np.array([0.5, 0.5])
    assert reach(Problem(Logistic(), Peak(3.0)), q, 0.0, 0.1) == (3.0, End.PEAK)
    assert reach(Problem(Logistic(), Unconstrained()), q, 0.0, 0.1) == (FARTHEST, End.NONE)
    assert reach(Problem(Logistic(), Power(1.0) & Peak(2.0)), q, 1e-9, 0.1) == (2.0, End.PEAK)
    radius, end = reach(Problem(Logistic(), Cost(np.abs, 1.0)), q, 0.1, 0.1)
    assert end is End.COST
    assert 0.1 * (radius - 1.0) > np.log(2) - 0.1


def test_a_cost_with_a_far_dip_reaches_to_the_dip():
    dips = Cost(lambda l: np.minimum(np.abs(l), np.abs(np.abs(l) - 40.0)), 1.0)
    radius, _ = reach(Problem(Logistic(), dips), np.array([0.5, 0.5]), 0.1, 0.1)
    assert radius > 40.0


def test_where_a_cost_rises_its_probes_speak_for_those_beyond():
    flat = Cost(lambda l: np.where(np.abs(l) < 300.0, np.abs(l), 1.0), 1.0, rises=400.0)
    radius, end = reach(Problem(Logistic(), flat), np.array([0.5, 0.5]), 0.1, 0.1)
    assert radius >= 400.0
    assert end is not End.PEAK


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6), st.floats(-12.0, -3.0))
def test_missing_outputs_are_filled_at_little_cost(masses, exponent):
    tol = 10.0**exponent
    q = np.array([0.3, *masses])
    q = np.where(q < 0.2, 0.0, q) / np.where(q < 0.2, 0.0, q).sum()
    full = filled(q, tol)
    assert full.sum() == pytest.approx(1.0, abs=1e-14)
    assert (full > 0).all()
    used = q > 0
    # D(W || q') - D(W || q) <= max ln(q / q') on the support of q
    assert np.log(q[used] / full[used]).max() <= 0.11 * tol
