"""Maxima of F on the line, smooth ones and kinks, against a dense grid."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Link, Logistic, Ordinal, Power
from channelcode.capacity import Problem
from channelcode.capacity.search.line import probe
from channelcode.capacity.solvers.continuous.maxima import maxima
from tests.channelcode.capacity.oracles import kkt

WAVY = Link(lambda l: 0.5 + 0.4 * np.sin(3 * l) * np.exp(-(l**2) / 8))
KINKED = Link(lambda l: 0.1 + 0.8 * np.exp(-np.abs(l - 0.7)))


@pytest.mark.parametrize("channel", [WAVY, KINKED, Ordinal([-1.0, 1.0])])
@pytest.mark.parametrize("multiplier", [0.01, 0.1])
def test_maxima_are_those_of_a_dense_grid(channel, multiplier):
    problem, q = Problem(channel, Power(2.0)), np.full(channel.num_outputs, 1 / channel.num_outputs)
    coarse = probe(problem, np.linspace(-8.0, 8.0, 161))
    points, heights = maxima(problem, coarse, q, multiplier, floor=-1.0)
    dense = np.linspace(-8.0, 8.0, 160_001)
    values = kkt(channel.prob(dense), q, dense**2 - 2.0, multiplier)
    inner = values[1:-1]
    tops = 1 + np.flatnonzero((inner > values[:-2]) & (inner > values[2:]) & (inner > -1.0))
    for top in tops:
        place = np.argmin(np.abs(points - dense[top]))
        assert abs(points[place] - dense[top]) <= 1e-4  # the dense grid's own step
        assert heights[place] >= values[top] - 1e-13
        # a kink is climbed by values alone, to about 1e-9 of its height
        assert heights[place] <= values[top] + 1e-4
    own = kkt(channel.prob(points), q, points**2 - 2.0, multiplier)
    np.testing.assert_allclose(heights, own, atol=1e-12)


def test_no_maximum_above_the_floor():
    problem = Problem(Logistic(), Power(2.0))
    grid = probe(problem, np.linspace(-3.0, 3.0, 31))
    points, heights = maxima(problem, grid, np.array([0.5, 0.5]), 0.1, floor=5.0)
    assert len(points) == len(heights) == 0
