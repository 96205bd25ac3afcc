"""The probit channel: one-bit quantised Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from channelcode._numerics.logspace import normal_hazard
from channelcode._validation import Array, positive
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails, links


@dataclass(frozen=True)
class Probit(Channel):
    """The sign of l plus Gaussian noise: P(Y = 1 | l) = Phi(l / scale).

    Its capacity under a power budget is achieved by B_sqrt(P) (Singh, Dabeer and Madhow,
    "On the limits of communication with low-precision analog-to-digital conversion", 2009).

    >>> Probit(scale=2.0).prob(0.0)
    array([0.5, 0.5])
    """

    scale: float = 1.0
    dim = 1
    num_outputs = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def log_prob(self, l: Any) -> Array:
        z = l / self.scale
        return np.stack([log_ndtr(-z), log_ndtr(z)], axis=-1)

    def tails(self) -> Tails:
        return links(0.0, self.scale)

    def derivatives(self, l: Any) -> Derivatives:
        z = l / self.scale
        up, down = normal_hazard(z), normal_hazard(-z)
        gradient = np.stack([-down, up], axis=-1) / self.scale
        # (ln Phi)'' = -h (z + h) with h = phi / Phi
        curvature = np.stack([-down * (down - z), -up * (up + z)], axis=-1) / self.scale**2
        return Derivatives(gradient, curvature)
