"""The contract of channels with a density: mistakes are named, sound ones of every unit pass."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import AdditiveGaussian, AdditiveLaplace, Channel, Exponential, Gamma, Poisson
from channelcode.testing import check_channel
from tests.channelcode.testing.density_mistakes import MISTAKES, Good, GoodCounts


class Student(Good):
    """Three degrees of freedom."""

    def log_density(self, y, l):
        return np.log(2 / (np.pi * np.sqrt(3))) - 2 * np.log1p((y - l) ** 2 / 3)


class Level(Channel):
    """A jump at either side, and no word about it."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return np.where(np.abs(y - l) <= 0.5, 0.0, -np.inf)


class Growing(Good):
    """Noise that grows with the input."""

    def log_density(self, y, l):
        spread = 1 + 0.3 * l * l
        return -0.5 * (y - l) ** 2 / spread - 0.5 * np.log(2 * np.pi * spread)


class Elsewhere(Good):
    """Takes inputs between 100 and 102."""

    domain = (100.0, 102.0)


@pytest.mark.parametrize(
    ("channel", "message"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_each_mistake_is_named(channel, message, seed):
    with pytest.raises(AssertionError, match=message):
        check_channel(channel, rng=seed)


@pytest.mark.parametrize(
    "channel",
    [
        Good(),
        GoodCounts(),
        Student(),
        Level(),
        Growing(),
        Elsewhere(),
        AdditiveGaussian(2.0**-300),
        AdditiveLaplace(2.0**300),
        Exponential(),
        Gamma(0.1),
        Gamma(1e4),
        Poisson(0.0),
        Poisson(50.0),
    ],
    ids=lambda channel: repr(channel) if "object" not in repr(channel) else type(channel).__name__,
)
def test_sound_ones_pass(channel):
    check_channel(channel)
