"""A channel with Gaussian noise in front of it: what is left of its slope, and exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from channelcode._validation import Array, non_negative
from channelcode.channels import AdditiveGaussian, Channel, Logistic, Probit
from channelcode.errors import InvalidArgument

REACH, NODES = 8.0, 65  # a trapezoid rule in deviations, at least
FINE = 27  # nodes for each unit of s: poles of the logistic, pi away, then cost less than 1e-13
SCAN = 401  # inputs at which the largest Fisher information is looked for
GRID = 33  # noise levels of a table, equally spaced in asinh(s)


@dataclass(frozen=True)
class NoisyInput(Channel):
    """A scalar channel whose input has Gaussian noise: `p(y|l) = E[W(y | l + s Z)]`.

    The channel from a message F to the label, when L = F + noise of deviation s (theory of the
    effective channel). Quadrature; exact to about 1e-10 for smooth channels and s up to 30.

    >>> [NoisyInput(Logistic(), s).prob(1.0).round(4).tolist() for s in (0.0, 2.0)]
    [[0.2689, 0.7311], [0.3523, 0.6477]]
    """

    channel: Channel
    deviation: float

    def __post_init__(self) -> None:
        if self.channel.dim != 1 or self.channel.inputs is not None:
            raise InvalidArgument("channel", "must have a continuous scalar input", self.channel)
        object.__setattr__(self, "deviation", non_negative("deviation", self.deviation))

    @property
    def dim(self) -> int:
        return 1

    @property
    def num_outputs(self) -> int:
        return self.channel.num_outputs

    def log_prob(self, l: Array) -> Array:
        if self.deviation == 0:
            return self.channel.log_prob(l)
        z, weights = _rule(self.deviation)
        logs = self.channel.log_prob(l[..., None] + self.deviation * z)
        top = logs.max(axis=-2)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            ratio = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[..., None, :])
            return top + np.log(np.einsum("...zy,z->...y", ratio, weights))


def bend(channel: Channel) -> float | None:
    """b in the slope `k = 1 / sqrt(1 + b s^2)` left by noise of deviation s; None if unknown.

    Probit: 1 / scale^2, exact. Logistic: pi / 8, the probit with the same slope at zero, good to
    2 % of k. `AdditiveGaussian`: 1 / noise^2, exact. Other channels have no such form: see `slope`.
    """
    if type(channel) is Logistic:
        return pi / 8.0
    if type(channel) is Probit:
        return 1.0 / channel.scale**2
    if type(channel) is AdditiveGaussian:
        return 1.0 / channel.noise**2
    return None


def slope(channel: Channel, deviation: float) -> float:
    """k(s) = sqrt(J_s / J_0), with J_s the largest Fisher information of the channel blurred by s.

    Measured in units k times as large the blurred channel is as sharp as the channel was. For a
    symmetric binary channel k is the ratio of the slopes at zero. k <= 1 by data processing.

    >>> round(slope(Probit(), 2.0) ** -2, 6)
    5.0
    """
    if deviation == 0:
        return 1.0
    plain, blurred = _sharpest(channel, 0.0), _sharpest(channel, deviation)
    if not plain > 0:
        raise InvalidArgument("channel", "must respond to its input", channel)
    return min(float(np.sqrt(blurred / plain)), 1.0)


def noise_table(channel: Channel, largest: float) -> tuple[Array, Array]:
    """Noise levels from 0 to `largest`, equally spaced in asinh, and their slopes, `(g,)` each."""
    levels = np.sinh(np.linspace(0.0, np.arcsinh(max(largest, 1e-6)), GRID))
    return levels, np.array([slope(channel, float(s)) for s in levels])


def _rule(deviation: float) -> tuple[Array, Array]:
    nodes = max(NODES, 2 * int(0.5 * FINE * deviation) + 3)
    z = np.linspace(-REACH, REACH, nodes)
    weights = np.exp(-0.5 * z * z)
    return z, weights / weights.sum()


def _sharpest(channel: Channel, deviation: float) -> float:
    """The largest Fisher information of the blurred channel over its input."""
    inputs = np.sinh(np.linspace(-np.arcsinh(40.0), np.arcsinh(40.0), SCAN))
    z, weights = _rule(deviation) if deviation > 0 else (np.zeros(1), np.ones(1))
    best = 0.0
    for part in np.array_split(inputs, max(1, len(inputs) * len(z) // 200_000)):
        point = part[:, None] + deviation * z
        rows: Any = channel.prob(point)
        change = np.einsum("lzy,lzy,z->ly", rows, channel.derivatives(point).gradient, weights)
        total = np.einsum("lzy,z->ly", rows, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(total > 0, change**2 / total, 0.0)
        best = max(best, float(terms.sum(axis=1).max()))
    return best
