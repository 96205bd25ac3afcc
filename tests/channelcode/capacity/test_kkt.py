"""The KKT function against divergences, and its derivatives against differences."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Binomial, Cloglog, Features, Logistic, Ordinal, Probit, Softmax
from channelcode.capacity import Cost, Power, Problem, Unconstrained
from channelcode.capacity.kkt import curve, kkt_function, local, priced
from tests.channelcode.capacity.oracles import central, kkt

CHANNELS = [Logistic(), Probit(1.3), Cloglog(), Ordinal([-1.0, 0.2, 1.0]), Binomial(3)]
HEAD = Features(Softmax(3), np.array([[1.0, 0.0], [0.3, 1.0], [-1.0, -1.0]]))


def any_output(channel, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(channel.num_outputs))


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("multiplier", [0.0, 0.3])
def test_values_on_the_line(channel, multiplier):
    points, output = np.linspace(-5.0, 5.0, 41), any_output(channel)
    found = kkt_function(Problem(channel, Power(2.0)), points, output, multiplier)
    direct = channel.divergence(points, output) - multiplier * (points**2 - 2.0)
    np.testing.assert_allclose(found, direct, atol=1e-13)
    own = kkt(channel.prob(points), output, points**2 - 2.0, multiplier)
    np.testing.assert_allclose(found, own, atol=1e-12)


def test_values_in_the_plane_and_without_a_cost():
    points = np.random.default_rng(1).normal(size=(7, 2))
    output = any_output(HEAD)
    found = kkt_function(Problem(HEAD, Power(2.0)), points, output, 0.4)
    own = kkt(HEAD.prob(points), output, (points**2).sum(axis=1) - 2.0, 0.4)
    np.testing.assert_allclose(found, own, atol=1e-13)
    free = priced(Problem(HEAD, Unconstrained()), points, own, 0.4)
    np.testing.assert_array_equal(free, own)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(
    ("constraint", "cost"),
    [(Power(2.0), np.square), (Cost(np.cosh, 2.0), np.cosh)],
)
def test_derivatives_on_the_line(channel, constraint, cost):
    problem = Problem(channel, constraint)
    points, output, s = np.linspace(-2.0, 2.0, 9), any_output(channel), 0.3
    at = curve(local(problem, points), output, s, 2.0)
    first, second = central(
        lambda t: kkt(channel.prob(points + t), output, cost(points + t) - 2.0, s), 1e-3
    )
    np.testing.assert_allclose(at.value, kkt_function(problem, points, output, s), atol=1e-13)
    # differences of fourth order: step^4 = 1e-12, rounding eps / step^2 = 1e-10
    np.testing.assert_allclose(at.gradient[:, 0], first, atol=1e-9)
    np.testing.assert_allclose(at.hessian[:, 0, 0], second, atol=1e-7)


@pytest.mark.parametrize(
    ("constraint", "cost"),
    [
        (Power(2.0), lambda x: (x**2).sum(axis=-1)),
        (Cost(lambda x: np.cosh(x[:, 0]) + x[:, 0] * x[:, 1] + x[:, 1] ** 4, 2.0), None),
    ],
)
def test_derivatives_in_the_plane(constraint, cost):
    problem = Problem(HEAD, constraint)
    cost = constraint.function if cost is None else cost
    points = np.random.default_rng(2).normal(size=(5, 2))
    output, s = any_output(HEAD), 0.2
    at = curve(local(problem, points), output, s, 2.0)

    def height(move):
        return kkt(HEAD.prob(points + move), output, cost(points + move) - 2.0, s)

    for way in ([1.0, 0.0], [0.0, 1.0], [0.6, 0.8]):
        v = np.array(way)
        first, second = central(lambda t, v=v: height(t * v), 1e-3)
        np.testing.assert_allclose(at.gradient @ v, first, atol=1e-9)
        np.testing.assert_allclose(np.einsum("mij,i,j->m", at.hessian, v, v), second, atol=1e-6)


def test_far_out_nothing_is_lost():
    """Where probabilities underflow the derivatives are those of the cost alone."""
    problem = Problem(Logistic(), Power(4.0))
    at = curve(local(problem, np.array([-900.0, 900.0])), np.array([0.5, 0.5]), 0.1, 4.0)
    np.testing.assert_allclose(at.gradient[:, 0], [180.0, -180.0], rtol=1e-12)
    np.testing.assert_allclose(at.hessian[:, 0, 0], -0.2, rtol=1e-12)
    np.testing.assert_allclose(at.value, np.log(2) - 0.1 * (900.0**2 - 4.0), rtol=1e-14)
