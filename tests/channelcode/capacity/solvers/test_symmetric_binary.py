"""Symmetric binary channels against an envelope by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr

from channelcode import Cauchit, Cloglog, Link, Logistic, Probit
from channelcode.capacity import Continuous, Cost, Peak, Power, Problem, Unconstrained, capacity
from channelcode.capacity.solvers.symmetric_binary import _envelope, symmetric_binary
from tests.channelcode.capacity.oracles import best_mean, entropy, mutual_information

TWO_STEPS = Link(lambda l: 0.5 + 0.2 * np.tanh(3 * l) + 0.25 * np.tanh((l / 3) ** 5))
CHANNELS = {
    "logistic": Logistic(),
    "probit": Probit(),
    "cauchit": Cauchit(),
    "cubic": Link(lambda l: expit(l**3)),
    "two steps": TWO_STEPS,
    "humped": Link(lambda l: 0.5 + 0.45 * np.sin(l) * np.exp(-(l**2) / 9)),
    "flat start": Link(lambda l: ndtr(np.sign(l) * np.maximum(np.abs(l) - 1.0, 0.0) ** 2)),
}


@pytest.mark.parametrize("power", [0.02, 0.3, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("name", CHANNELS)
def test_value_is_the_envelope(name, power):
    channel = CHANNELS[name]
    proposal = symmetric_binary(Problem(channel, Power(power)))
    assert proposal is not None
    atoms, weights = proposal.points, proposal.weights
    assert weights @ atoms**2 <= power * (1 + 1e-12)
    value = mutual_information(channel.prob(atoms), weights)
    radii = np.unique(np.concatenate([np.linspace(0.0, 12.0, 1201), np.abs(atoms)]))
    gain = np.log(2) - entropy(channel.prob(radii))
    # the grid of step 0.01 may miss a tangent point by G'' step^2 / 8, and reaches to 12 only
    assert value == pytest.approx(best_mean(gain, radii**2, power), abs=2e-5)
    assert value >= best_mean(gain, radii**2, power) - 1e-9


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_envelope_vertices(seed):
    rng = np.random.default_rng(seed)
    prices = np.sort(np.concatenate([[0.0], rng.uniform(0.0, 10.0, 30)]))
    gain = np.concatenate([[0.0], rng.uniform(0.0, 1.0, 30)])
    budget = float(rng.uniform(0.1, 9.0))
    left, right = _envelope(prices, gain, budget)
    if left == right:
        height = gain[left]
        assert prices[left] <= budget
    else:
        assert prices[left] <= budget < prices[right]
        share = (budget - prices[left]) / (prices[right] - prices[left])
        height = (1 - share) * gain[left] + share * gain[right]
    assert height == pytest.approx(best_mean(gain, prices, budget), abs=1e-12)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_agrees_with_continuous(power):
    formula = capacity(TWO_STEPS, Power(power))
    found = capacity(TWO_STEPS, Power(power), solver=Continuous())
    assert formula.stats.method.startswith("ClosedForm")
    assert formula.bits == pytest.approx(found.bits, abs=1e-9)
    assert formula.multiplier == pytest.approx(found.multiplier, rel=1e-5)
    assert len(formula.input) <= 3


def test_the_atom_at_zero():
    """sigma(l^3) at small power is switched on and off; at large power it is not."""
    low = capacity(CHANNELS["cubic"], Power(0.5))
    assert len(low.input) == 3
    assert np.abs(low.input.atoms).min() <= 1e-9
    assert len(capacity(CHANNELS["cubic"], Power(9.0)).input) == 2


def test_a_peak_holds():
    result = capacity(CHANNELS["cubic"], Power(0.5) & Peak(1.2))
    assert np.abs(result.input.atoms).max() <= 1.2 * (1 + 1e-15)
    radii = np.linspace(0.0, 1.2, 1201)
    gain = np.log(2) - entropy(CHANNELS["cubic"].prob(radii))
    assert result.nats == pytest.approx(best_mean(gain, radii**2, 0.5), abs=1e-8)


def test_what_is_not_symmetric_is_left_alone():
    assert symmetric_binary(Problem(Cloglog(), Power(1.0))) is None
    assert symmetric_binary(Problem(Link(lambda l: expit(l + 1e-9)), Power(1.0))) is None
    assert symmetric_binary(Problem(Logistic(), Cost(np.abs, 1.0))) is None
    assert symmetric_binary(Problem(Logistic(), Unconstrained())) is None
    assert symmetric_binary(Problem(Logistic(), Power(0.0))) is None
