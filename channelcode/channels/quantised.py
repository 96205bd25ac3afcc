"""The Gaussian channel behind a quantiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array, positive
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.cells import cell_derivatives, cell_log_prob, ordered_thresholds
from channelcode.channels.links.probit import Probit
from channelcode.channels.tails import Tails, cells


@dataclass(frozen=True)
class QuantisedGaussian(Channel):
    """The cell of l + N(0, noise^2) between thresholds: P(Y <= k | l) = Phi((t_k - l) / noise).

    One threshold at zero is the probit channel; many fine cells approach the AWGN channel
    (Singh, Dabeer and Madhow, 2009).

    >>> QuantisedGaussian([-1.5, 0.0, 1.5]).prob(0.0).round(4)
    array([0.0668, 0.4332, 0.4332, 0.0668])
    """

    thresholds: Any  # kept as a tuple of floats
    noise: float = 1.0
    dim = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", ordered_thresholds(self.thresholds))
        object.__setattr__(self, "noise", positive("noise", self.noise))

    @property
    def num_outputs(self) -> int:
        return len(self.thresholds) + 1

    def tails(self) -> Tails | None:
        return cells(Probit(self.noise).tails(), self.thresholds, peaked=True)

    def log_prob(self, l: Any) -> Array:
        return cell_log_prob(Probit(self.noise), self.thresholds, l)

    def derivatives(self, l: Any) -> Derivatives:
        return cell_derivatives(self, Probit(self.noise), np.asarray(self.thresholds), l)
