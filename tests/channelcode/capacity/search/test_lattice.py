"""The channel at a lattice: F there, its peaks, and rows that are checked."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Channel, Features, InvalidArgument, Softmax
from channelcode.capacity import Peak, Power, Problem
from channelcode.capacity.search.lattice import described, layers
from tests.channelcode.capacity.oracles import kkt

HEAD = Features(Softmax(3), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
OUTPUT, PRICE = np.array([0.2, 0.3, 0.5]), 0.1


def test_heights_are_those_of_the_definition():
    problem = Problem(HEAD, Power(4.0))
    layer = layers(problem, 5.0)[0]
    points = layer.ball.points
    expected = kkt(HEAD.prob(points), OUTPUT, (points**2).sum(axis=1) - 4.0, PRICE)
    np.testing.assert_allclose(layer.heights(problem, OUTPUT, PRICE), expected, atol=1e-12)
    tops = layer.peaks(problem, OUTPUT, PRICE)
    best = points[expected.argmax()]
    assert np.linalg.norm(tops - best, axis=1).min() <= 2.0 * layer.ball.spacing


def test_the_radius_and_the_words():
    problem = Problem(HEAD, Peak(3.0))
    found = layers(problem, 2.9)
    assert found[0].ball.radius == 3.0  # rounded up, to the peak at most
    assert layers(problem, 2.9) is found  # once for a problem
    count = sum(len(layer.prob) for layer in found)
    assert described(found).startswith(f"{count} probes, ")
    wide = layers(Problem(HEAD, Power(1.0)), 500.0)
    assert len(wide) > 1
    assert "within" in described(wide)


def test_nothing_beyond_four_dimensions():
    assert layers(Problem(Softmax(5), Power(1.0)), 5.0) == []


class Leaky(Channel):
    """A law everywhere but on a disc."""

    dim, num_outputs = 2, 2

    def log_prob(self, l):
        half = np.log(np.full((*l.shape[:-1], 2), 0.5))
        near = ((l - np.array([3.3, 1.7])) ** 2).sum(axis=-1) < 0.04
        return np.where(near[..., None], half + 0.2, half)


def test_rows_are_checked():
    with pytest.raises(InvalidArgument, match="sum to one"):
        layers(Problem(Leaky(), Power(4.0)), 6.0)
