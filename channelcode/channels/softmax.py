"""The softmax channel of K-class logistic regression and of neural classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import Array, integer
from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.tails import Landmark, Tails


@dataclass(frozen=True)
class Softmax(Channel):
    """K classes from K logits: P(Y = k | l) = exp(l_k) / sum_j exp(l_j).

    A shift of all logits changes nothing but costs power, so optimal inputs are centred. The
    capacity has an on-off regime at low power for K >= 3 (see `channelcode.capacity`).

    >>> Softmax(3).prob([0.0, 0.0, 0.0]).round(4)
    array([0.3333, 0.3333, 0.3333])
    """

    num_classes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_classes", integer("num_classes", self.num_classes, least=2))

    @property
    def dim(self) -> int:
        return self.num_classes

    @property
    def num_outputs(self) -> int:
        return self.num_classes

    def log_prob(self, l: Any) -> Array:
        top = np.argmax(l, axis=-1)[..., None]
        below = l - np.take_along_axis(l, top, axis=-1)
        with np.errstate(under="ignore"):
            others = np.exp(below)
        np.put_along_axis(others, top, 0.0, axis=-1)
        # the likeliest class is 1/(1 + others): log1p keeps its distance from certainty
        return below - np.log1p(others.sum(axis=-1, keepdims=True))

    def tails(self) -> Tails:
        # every ln p is concave, so along every line each p is turns once at most; where it turns
        # depends on the direction, so that no radius holds for all rays
        return Tails((Landmark((0.0,) * self.num_classes, 1.0),), turns_once=True)

    def derivatives(self, l: Any) -> Derivatives:
        p = self.prob(l)
        gradient = np.eye(self.num_classes) - p[..., None, :]
        hessian = p[..., :, None] * p[..., None, :] - p[..., None] * np.eye(self.num_classes)
        shape = (*p.shape, self.num_classes, self.num_classes)
        return Derivatives(gradient, np.broadcast_to(hessian[..., None, :, :], shape).copy())
