"""The logistic channel of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from channelcode._validation import Array
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Tails, links


@dataclass(frozen=True)
class Logistic(Channel):
    """The label of logistic regression: P(Y = 1 | l) = 1 / (1 + exp(-l)).

    Eq. (1) of the paper with l = x'theta. Its capacity under E[l^2] <= P is
    1 - h_b(f(sqrt P)), achieved by B_sqrt(P) (Prop. 2.1).

    >>> Logistic().prob([0.0, 800.0])
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    dim = 1
    num_outputs = 2

    def log_prob(self, l: Any) -> Array:
        rows = np.empty((*l.shape, 2))
        log_expit(-l, out=rows[..., 0])
        log_expit(l, out=rows[..., 1])
        return rows

    def tails(self) -> Tails:
        return links(0.0, 1.0)

    def derivatives(self, l: Any) -> Derivatives:
        up, down = expit(l), expit(-l)
        curvature = -up * down
        return Derivatives(
            np.stack([-up, down], axis=-1), np.stack([curvature, curvature], axis=-1)
        )
