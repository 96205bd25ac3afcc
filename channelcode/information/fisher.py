"""The peak of a channel's Fisher information: where it is sharpest, and how narrow the peak is."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel, Logistic
from channelcode.channels.densities.range import has_density
from channelcode.errors import InvalidArgument

REACH, STEPS = 1e6, 1200  # inputs of either sign from 1 / REACH to REACH, equally spaced in ln
FALLEN = 0.9  # the peak is fitted where the information is above this part of its maximum
NODES, DEGREE = 41, 12  # a polynomial over the peak, at Chebyshev nodes


def fisher_information(channel: Channel, l: Any) -> Array:
    """J(l) = sum_y p(y|l) (d ln p(y|l) / dl)^2 of a scalar channel, shaped as l.

    >>> from channelcode.channels import Logistic
    >>> fisher_information(Logistic(), [0.0])
    array([0.25])
    """
    inputs = np.asarray(l, dtype=np.float64)
    with np.errstate(all="ignore"):
        probability: Any = channel.prob(inputs)
        gradient = channel.derivatives(inputs).gradient
        terms = np.where(probability > 0, probability * gradient**2, 0.0)
    return np.nan_to_num(terms.sum(axis=-1), nan=0.0, posinf=0.0)


def fisher_curvature(channel: Channel) -> float:
    """kappa = -J''(m) / J(m) at the maximum m of the Fisher information J.

    1/2 for the logistic channel. A channel in R^k, or one whose information has no peak, is
    refused.

    >>> from channelcode.channels import Logistic, Probit
    >>> fisher_curvature(Logistic()), round(fisher_curvature(Probit()), 4)
    (0.5, 0.7268)
    """
    if channel.dim != 1 or channel.inputs is not None:
        rule = "must have a continuous scalar input: look through ContestedPair()"
        raise InvalidArgument("channel", rule, channel)
    if has_density(channel):
        rule = "must have a Fisher information with a peak and finitely many outputs"
        raise InvalidArgument("channel", rule, channel)
    if type(channel) is Logistic:
        return 0.5
    try:
        return _curvature(channel)
    except TypeError:  # a channel that cannot be hashed
        return _curvature.__wrapped__(channel)


@lru_cache(maxsize=64)
def _curvature(channel: Channel) -> float:
    side = np.geomspace(1.0 / REACH, REACH, STEPS)
    inputs = np.concatenate((-side[::-1], [0.0], side))
    information = fisher_information(channel, inputs)
    top = int(np.argmax(information))
    low = _fall(information[: top + 1][::-1])
    high = _fall(information[top:])
    if low is None or high is None or not information[top] > 0:
        rule = "must have a Fisher information with a peak, for MatchedPower()"
        raise InvalidArgument("channel", rule, channel)
    left, right = inputs[top - low], inputs[top + high]
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    u = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    fitted = np.polynomial.Chebyshev.fit(
        u, fisher_information(channel, middle + half * u), DEGREE, domain=[-1, 1]
    )
    turns = fitted.deriv().roots()
    turns = turns[np.isreal(turns)].real
    places = np.concatenate((turns[np.abs(turns) < 1], [0.0]))
    peak = places[int(np.argmax(fitted(places)))]
    kappa = float(-fitted.deriv(2)(peak) / fitted(peak) / half**2)
    if not kappa > 0:
        rule = "must have a Fisher information with a smooth peak, for MatchedPower()"
        raise InvalidArgument("channel", rule, channel)
    return kappa


def _fall(values: Array) -> int | None:
    """How many places after the first the values have fallen below a part of it."""
    below = np.flatnonzero(values < FALLEN * values[0])
    return int(below[0]) if len(below) else None
