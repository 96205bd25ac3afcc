"""The cauchit channel: a heavy-tailed binary response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails, links


def _log_cdf(l: Array) -> Array:
    """ln(1/2 + atan(l)/pi); atan2 keeps the lower tail, log1p the upper one."""
    small = np.arctan2(1.0, np.abs(l)) / np.pi  # P of the less likely output
    return np.where(l < 0, np.log(small), np.log1p(-small))


@dataclass(frozen=True)
class Cauchit(Channel):
    """The sign of l plus Cauchy noise: P(Y = 1 | l) = 1/2 + atan(l) / pi.

    The link of Koenker and Yoon, "Parametric links for binary choice models" (2009): outliers in
    the labels are expected, so no single label is overwhelming evidence.

    >>> Cauchit().prob(1.0)
    array([0.25, 0.75])
    """

    dim = 1
    num_outputs = 2

    def log_prob(self, l: Any) -> Array:
        return np.stack([_log_cdf(-l), _log_cdf(l)], axis=-1)

    def tails(self) -> Tails:
        return links(0.0, 1.0)

    def derivatives(self, l: Any) -> Derivatives:
        density = 1.0 / (np.pi * (1.0 + l * l))
        slope = -2.0 * l / (1.0 + l * l)  # d ln density / dl
        up = density / np.exp(_log_cdf(l))
        down = density / np.exp(_log_cdf(-l))
        gradient = np.stack([-down, up], axis=-1)
        curvature = np.stack([-down * (slope + down), up * (slope - up)], axis=-1)
        return Derivatives(gradient, curvature)
