"""Finite alphabets: what is left out changes nothing, and the start is where it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from channelcode import DiscreteChannel
from channelcode.capacity import Cost, Peak, Power, Problem, Unconstrained, capacity
from channelcode.capacity.solvers.letters import Letters, letters_of, prepare
from tests.channelcode.capacity.oracles import entropy, mutual_information

seeds = st.integers(0, 2**32 - 1)


def random_alphabet(rng: np.random.Generator, *, limited: bool = True) -> Letters:
    count, size = rng.integers(3, 9, 2)
    matrix = rng.dirichlet(np.ones(size), size=count)
    cost = rng.gamma(1.0, 1.0, count)
    budget = cost.min() + rng.uniform(0.1, 0.9) * (cost.max() - cost.min())
    return prepare(np.arange(float(count)), np.log(matrix), cost, budget if limited else np.inf)


def test_costs_are_shifted_and_scaled():
    matrix = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    alphabet = prepare(np.arange(3.0), np.log(matrix), np.array([5.0, 2.0, 10.0]), 6.0)
    np.testing.assert_allclose(alphabet.cost, [0.75, 0.0, 2.0])
    assert alphabet.budget == 1.0
    assert alphabet.scale == 0.25  # one nat per scaled cost is a quarter of a nat per unit
    np.testing.assert_allclose(alphabet.entropy, entropy(matrix), rtol=1e-14)


def test_a_budget_that_binds_nobody_or_almost_everybody():
    rows = np.log([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    free = prepare(np.arange(3.0), rows, np.array([1.0, 2.0, 3.0]), 3.0)
    assert free.budget == np.inf
    assert not free.cost.any()
    tight = prepare(np.arange(3.0), rows, np.array([1.0, 2.0, 1.0]), 1.0)
    np.testing.assert_array_equal(tight.points, [0, 2])


def test_idle_outputs_and_dearer_twins_are_left_out():
    channel = DiscreteChannel([[0.9, 0.0, 0.1], [0.2, 0.0, 0.8], [0.9, 0.0, 0.1]], [5.0, 1.0, 2.0])
    alphabet = letters_of(Problem(channel, Power(3.0)))
    np.testing.assert_array_equal(alphabet.points, [1.0, 2.0])
    assert alphabet.matrix.shape == (2, 2)
    within = letters_of(Problem(channel, Peak(1.5)))
    np.testing.assert_array_equal(within.points, [1.0])


def test_near_twins_only_when_asked():
    rows = np.array([[0.9, 0.1], [0.9 - 1e-14, 0.1 + 1e-14], [0.1, 0.9]])
    assert len(prepare(np.arange(3.0), np.log(rows), np.zeros(3), np.inf).points) == 3
    assert len(prepare(np.arange(3.0), np.log(rows), np.zeros(3), np.inf, twins=1e-12).points) == 2


@settings(max_examples=25)
@given(seeds)
def test_start_is_the_analytic_centre(seed):
    rng = np.random.default_rng(seed)
    alphabet = random_alphabet(rng)
    p = alphabet.start()
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    room = 1.0 - p @ alphabet.cost
    assert room > 0
    # at the maximum of sum ln p + ln room the gradient is the same for every letter
    gradient = 1.0 / p - alphabet.cost / room
    np.testing.assert_allclose(gradient, gradient[0], rtol=1e-6)


@settings(max_examples=25)
@given(seeds, st.floats(0.0, 3.0))
def test_kkt_and_gap(seed, multiplier):
    rng = np.random.default_rng(seed)
    alphabet = random_alphabet(rng)
    p = alphabet.start()
    expected = rel_entr(alphabet.matrix, p @ alphabet.matrix).sum(axis=1)
    expected -= multiplier * alphabet.cost
    np.testing.assert_allclose(alphabet.kkt(p, multiplier), expected, atol=1e-13)
    gap = expected.max() + multiplier - mutual_information(alphabet.matrix, p)
    assert alphabet.gap(p, multiplier) == pytest.approx(gap, abs=1e-13)
    assert gap >= 0


def test_kkt_is_infinite_where_the_output_law_misses():
    with np.errstate(divide="ignore"):
        rows = np.log([[1.0, 0.0], [0.5, 0.5], [0.1, 0.9]])
    alphabet = prepare(np.arange(3.0), rows, np.zeros(3), np.inf)
    only = np.array([1.0, 0.0, 0.0])
    np.testing.assert_array_equal(np.isinf(alphabet.kkt(only, 0.0)), [False, True, True])


@settings(max_examples=25)
@given(seeds)
def test_expand_keeps_the_budget_and_drops_the_idle(seed):
    rng = np.random.default_rng(seed)
    alphabet = random_alphabet(rng)
    weights = rng.dirichlet(np.full(len(alphabet.cost), 0.3))
    weights[0] = 0.0
    points, masses = alphabet.expand(weights / weights.sum(), 0.1, tol=1e-9)
    index = np.searchsorted(alphabet.points, points)
    assert (masses > 0).all()
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert masses @ alphabet.cost[index] <= 1.0 + 1e-12


def test_letters_of_no_use_are_not_in_the_answer():
    # the middle letter of this channel only blurs: mass 1/2 on each end is optimal
    channel = DiscreteChannel([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    result = capacity(channel, Unconstrained())
    np.testing.assert_array_equal(result.input.atoms, [0.0, 2.0])


def test_idle_outputs_and_twin_letters_change_nothing():
    plain = capacity(DiscreteChannel([[0.9, 0.1], [0.2, 0.8]]), Unconstrained())
    idle = capacity(DiscreteChannel([[0.9, 0.0, 0.1], [0.2, 0.0, 0.8]]), Unconstrained())
    twins = capacity(DiscreteChannel([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]), Unconstrained())
    assert idle.bits == pytest.approx(plain.bits, abs=1e-12)
    assert twins.bits == pytest.approx(plain.bits, abs=1e-12)
    assert idle.output[1] == 0.0


def test_the_cheaper_twin_is_used():
    rows = [[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]
    result = capacity(DiscreteChannel(rows, [5.0, 1.0, 2.0]), Power(2.0))
    assert 5.0 not in result.input.atoms
    cost = np.array([3.0, 1.0, 2.0])
    other = capacity(DiscreteChannel(rows), Cost(lambda l: cost[l.astype(int)], 1.7))
    assert 0.0 not in other.input.atoms
