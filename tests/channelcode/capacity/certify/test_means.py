"""Bounds for laws of limited variance whose mean is anywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import (
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    Lapse,
    Logistic,
    Ordinal,
    Probit,
    Variance,
)
from channelcode.capacity.certify.means import bound_beyond, parabolas
from channelcode.capacity.problem import Problem
from tests.channelcode.capacity.oracles import mutual_information
from tests.naming import plain

CHANNELS = [
    Logistic(),
    Probit(),
    Cloglog(),
    Cauchit(),
    Lapse(Logistic(), low=0.2),
    Ordinal([-1.0, 2.0]),
    Binomial(5),
]


@given(st.floats(0.1, 5.0), st.floats(0, 1), st.floats(0, 1), st.floats(0, 2), st.floats(0, 2))
def test_the_lesser_parabola_is_bounded_and_the_bound_is_met(width, left, right, rise, fall):
    (bound,) = parabolas(np.array([0.0, width]), np.array([left, right]), np.array([rise, fall]))
    inside = np.linspace(0.0, width, 2001)
    lesser = np.minimum(left + rise * inside**2, right + fall * (width - inside) ** 2)
    assert lesser.max() <= bound + 1e-12
    step = inside[1]  # the maximum lies between two of these points
    assert bound <= lesser.max() + 2.0 * max(rise, fall) * width * step + 1e-12


@pytest.mark.parametrize("channel", CHANNELS, ids=plain)
@pytest.mark.parametrize("side", [-1, 1])
def test_no_law_with_a_far_mean_carries_more(channel, side):
    # random laws, rare flashes back to the middle among them, scaled to the variance allowed
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(400):
        variance, mean = 10.0 ** rng.uniform(-3, 2), 10.0 ** rng.uniform(0.5, 2)
        problem = Problem(channel, Variance(variance))
        (bound,) = bound_beyond(problem, side, np.array([mean]))
        if not bound < np.log(channel.num_outputs):
            continue
        tried += 1
        count = int(rng.integers(2, 5))
        atoms = rng.standard_normal(count) * 10.0 ** rng.uniform(-1, 2)
        weights = rng.dirichlet(np.full(count, 0.2)) + 1e-300
        weights /= weights.sum()
        atoms -= weights @ atoms
        atoms *= np.sqrt(variance / max(weights @ atoms**2, 1e-300))
        law = side * mean * rng.uniform(1, 2) + atoms
        assert mutual_information(channel.prob(law), weights) <= bound + 1e-12
    assert tried > 50


@pytest.mark.parametrize("channel", CHANNELS, ids=plain)
def test_the_bound_falls_to_nothing(channel):
    means = np.array([1e3, 1e6, 1e12])
    bound = bound_beyond(Problem(channel, Variance(1.0)), 1, means)
    assert (np.diff(bound) < 0).all()
    assert bound[-1] < 1e-9


class Unpromising(Channel):
    """A channel that says nothing about its tails."""

    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return Logistic().log_prob(l)


def test_a_channel_without_a_promise_has_no_bound():
    assert bound_beyond(Problem(Unpromising(), Variance(1.0)), 1, np.array([1e9]))[0] == np.inf
