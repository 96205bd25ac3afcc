"""Narrow responses in R^k that no ray meets: `upper` is not below what a law carries."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Channel, Power, Status, capacity
from channelcode.channels import Landmark, Tails
from tests.channelcode.capacity.oracles import mutual_information


class Bump(Channel):
    """Logistic in the first coordinate, with a third output on a small ball."""

    num_outputs = 3

    def __init__(self, centre, width):
        self.dim, self.centre, self.width = len(centre), np.array(centre), width

    def log_prob(self, l):
        square = ((l - self.centre) ** 2).sum(axis=-1)
        third = 0.9 * np.exp(-0.5 * square / self.width**2)
        half = 1.0 / (1.0 + np.exp(-l[..., 0]))
        return np.log(np.stack([third, (1 - third) * half, (1 - third) * (1 - half)], axis=-1))


class Declared(Bump):
    """The same with its bends named."""

    def tails(self):
        places = (Landmark((0.0,) * self.dim, 1.0), Landmark(tuple(self.centre), self.width))
        return Tails(places)

    def log_prob(self, l):
        return super().log_prob(l)


def feasible(channel, power):
    """What a plain law carries: two inputs on the first axis, and the bump now and then."""
    best = 0.0
    for share in np.linspace(0.0, 1.0, 401)[1:-1]:
        left = (power - share * (channel.centre**2).sum()) / (1.0 - share)
        if left < 0.0:
            break
        root = np.zeros((2, channel.dim))
        root[:, 0] = np.sqrt(left) * np.array([-1.0, 1.0])
        points = np.vstack([channel.centre, root])
        weights = np.array([share, 0.5 * (1 - share), 0.5 * (1 - share)])
        best = max(best, mutual_information(channel.prob(points), weights))
    return best / np.log(2.0)


CASES = [
    ((10.73, 1.76), 0.05, 25.0),  # .94203 was certified, 1.16 is feasible
    ((8.54, 3.39), 0.2, 25.0),  # .94203, 1.23
    ((-12.24, -2.54), 0.05, 16.0),
    ((3.23, -6.35, 1.95), 0.5, 4.0),
    ((9.34, 7.79, 3.74), 0.2, 16.0),
]


@pytest.mark.parametrize(("centre", "width", "power"), CASES)
def test_a_bump_off_every_ray(centre, width, power):
    channel = Bump(centre, width)
    result = capacity(channel, Power(power))
    assert result.lower >= feasible(channel, power) - 1e-9
    assert result.status is Status.WITHIN_SCOPE
    assert not result.status.ok
    for words in ("only the inputs looked at", "nothing between them", "probes,", "not a proof"):
        assert words in result.scope


def test_landmarks_find_what_no_lattice_sees():
    """Undeclared, a bump of width .05 in R^3 lies between the probes."""
    channel = Declared((2.05, -2.43, 11.29), 0.05)
    result = capacity(channel, Power(25.0))
    assert result.lower >= feasible(channel, 25.0) - 1e-9
    assert result.bits == pytest.approx(1.1315646890, abs=1e-8)
