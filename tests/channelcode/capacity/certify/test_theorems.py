"""Theorems speak for their own measure only, and what they say is true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import BinarySymmetric, Cauchit, Link, Logistic, Ordinal, Probit, Softmax, capacity
from channelcode.capacity import ClosedForm, Cost, Peak, Power, Problem, Unconstrained
from channelcode.capacity.certify.theorems import theorem
from channelcode.capacity.simplex import simplex_code
from tests.channelcode.capacity.oracles import kkt, mutual_information

HALVES = np.array([0.5, 0.5])


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Probit(2.0)])
@pytest.mark.parametrize("constraint", [Power(2.0), Peak(2.0**0.5), Power(3.0) & Peak(2.0**0.5)])
def test_two_atoms(channel, constraint):
    problem = Problem(channel, constraint)
    limit = problem.limits
    radius = np.sqrt(min(limit.budget, limit.peak**2))
    atoms = np.array([-radius, radius])
    price = ClosedForm().propose(problem, tol=1e-9).multiplier
    scope = theorem(problem, atoms, HALVES, price)
    assert scope is not None
    assert scope.startswith("the whole real line")
    assert theorem(problem, atoms, HALVES, price + 1e-3) is None
    assert theorem(problem, atoms * (1 + 1e-12), HALVES, price) is None
    assert theorem(problem, atoms, np.array([0.5 + 1e-12, 0.5 - 1e-12]), price) is None
    assert theorem(problem, np.array([-radius, 0.0, radius]), np.full(3, 1 / 3), price) is None


@settings(max_examples=40)
@given(
    st.sampled_from([Logistic(), Probit(), Probit(0.5)]),
    st.floats(-3.0, 2.0).map(lambda e: 10.0**e),
)
def test_what_they_claim_is_true(channel, power):
    """D - s (l^2 - P) on a dense grid is at most its value on the atoms, s by differences."""
    radius = np.sqrt(power)
    value = lambda u: mutual_information(  # noqa: E731
        channel.prob(np.array([-np.sqrt(u), np.sqrt(u)])), HALVES
    )
    step = 1e-4 * power
    s = (value(power + step) - value(power - step)) / (2 * step)
    problem = Problem(channel, Power(power))
    price = ClosedForm().propose(problem, tol=1e-9).multiplier
    assert price == pytest.approx(s, rel=1e-6, abs=1e-11)
    assert theorem(problem, np.array([-radius, radius]), HALVES, price)
    grid = np.linspace(-6.0 * radius - 10.0, 6.0 * radius + 10.0, 8001)
    heights = kkt(channel.prob(grid), HALVES, grid**2 - power, max(s, 0.0))
    # the slope is off by 1e-8 of itself, and s P <= C
    assert heights.max() <= value(power) + 1e-6 * value(power) + 1e-13


@pytest.mark.parametrize(("classes", "power"), [(3, 0.3), (3, 4.0), (7, 2.0)])
def test_softmax(classes, power):
    code = simplex_code(classes, power)
    problem = Problem(Softmax(classes), Power(power))
    scope = theorem(problem, code.points, code.weights, code.multiplier)
    assert scope == f"the whole of R^{classes} (maxima lie on the vertex rays)"
    assert theorem(problem, code.points + 1e-9, code.weights, code.multiplier) is None
    other = Problem(Softmax(classes), Power(1.01 * power))
    assert theorem(other, code.points, code.weights, code.multiplier) is None


def test_where_only_zero_is_allowed():
    zero = np.zeros(1)
    for constraint in (Power(0.0), Peak(0.0), Power(4.0) & Peak(0.0)):
        assert theorem(Problem(Cauchit(), constraint), zero, np.ones(1), 0.0)
    assert theorem(Problem(BinarySymmetric(0.1), Power(0.0)), zero, np.ones(1), 0.0) is None


def test_where_there_is_none():
    atoms = np.array([-2.0, 2.0])
    for channel, constraint in (
        (Cauchit(), Power(4.0)),
        (Logistic(), Cost(np.square, 4.0)),
        (Logistic(), Unconstrained()),
        (Logistic(), Power(5.0)),
    ):
        assert theorem(Problem(channel, constraint), atoms, HALVES, 0.0) is None


@pytest.mark.parametrize("peak", [1e-100, 1e-300, 5e-324])
def test_a_step_is_told_however_small_the_peak(peak):
    """Below 1e-162 its square is zero, and "the only input allowed, zero" was certified."""
    step = Link(lambda l: np.where(l > 0.0, 0.9, 0.1))
    result = capacity(step, Peak(peak))
    assert result.bits == pytest.approx(0.5310044064107188, abs=1e-9)


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Softmax(3), Ordinal([-1.0, 1.0])])
@pytest.mark.parametrize("peak", [1e-170, 1e-300, 5e-324])
def test_smooth_channels_under_a_peak_whose_square_is_zero(channel, peak):
    result = capacity(channel, Peak(peak))
    assert 0.0 <= result.bits <= result.upper <= 1e-12
