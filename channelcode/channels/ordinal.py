"""Ordered categories: the cumulative-link channel of ordinal regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.binary import binary_response
from channelcode.channels.cells import (
    cell_derivatives,
    cell_log_prob,
    has_peaked_density,
    ordered_thresholds,
)
from channelcode.channels.links.logistic import Logistic
from channelcode.channels.tails import Tails, cells


@dataclass(frozen=True)
class Ordinal(Channel):
    """Ordered categories cut from a noisy scale: P(Y <= k | l) = F(t_k - l).

    F is the response of `link`; `thresholds` t_0 < t_1 < ... give one category more than there are
    thresholds (McCullagh, "Regression models for ordinal data", 1980).

    >>> Ordinal([-1.0, 1.0]).prob(0.0).round(4)
    array([0.2689, 0.4621, 0.2689])
    """

    thresholds: Any  # kept as a tuple of floats
    link: Channel = Logistic()
    dim = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", ordered_thresholds(self.thresholds))
        binary_response("link", self.link)

    @property
    def num_outputs(self) -> int:
        return len(self.thresholds) + 1

    def log_prob(self, l: Any) -> Array:
        return cell_log_prob(self.link, self.thresholds, l)

    def tails(self) -> Tails | None:
        return cells(self.link.tails(), self.thresholds, peaked=has_peaked_density(self.link))

    def derivatives(self, l: Any) -> Derivatives:
        return cell_derivatives(self, self.link, np.asarray(self.thresholds), l)
