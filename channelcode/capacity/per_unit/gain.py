"""What an input tells beside the free one: D(W(.|l) || W(.|l0)), also where no double holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from channelcode._numerics.divergence import missed, pointwise_divergence
from channelcode._validation import Array
from channelcode.channels import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    Exponential,
    Gamma,
    Poisson,
)
from channelcode.channels.densities.range import has_density
from channelcode.channels.mapped.rescaled_density import RescaledDensity
from channelcode.channels.row_check import checked_log_prob
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure

RAREST = 1e-290  # probabilities below have lost digits, or are zero, for want of range
LARGEST = 1e288  # nats: what is more may have left the doubles on the way, and counts as this
_NEARLY = 1e-3
_RISES = 1e3


def gain_from(channel: Channel, origin: Any) -> Callable[[Array], Array]:
    """l -> D(W(.|l) || W(.|origin)) in nats."""
    closed = getattr(channel, "divergence_between", None)
    if closed is not None:
        most = LARGEST if _always_finite(channel, origin) else np.inf  # too large is not infinite

        def bounded(l: Array) -> Array:
            with np.errstate(over="ignore"):
                return np.minimum(np.asarray(closed(l, origin), dtype=np.float64), most)

        return bounded
    if has_density(channel):
        law = DiscreteMeasure([origin], [1.0])
        return lambda l: output_divergence(channel, l, law).nats
    base_logs = checked_log_prob(channel, np.asarray(origin))
    base = np.exp(base_logs)
    base = base / base.sum()
    rare = (base < RAREST) & np.isfinite(base_logs)  # known by their logarithms only
    common = np.where(rare, 0.0, base)

    def gain(l: Array) -> Array:
        logs = checked_log_prob(channel, l)
        rows = np.exp(logs)
        with np.errstate(invalid="ignore"):
            terms = np.where(rare & (rows > 0), rows * (logs - base_logs - 1.0), 0.0)
        found = pointwise_divergence(rows, common) + terms.sum(axis=-1)
        return np.where(missed(rows, np.where(rare, 1.0, base)), np.inf, found)

    return gain


def _always_finite(channel: Channel, origin: Any) -> bool:
    """Whether no input has outputs that the free one cannot have; a user's word is taken for it."""
    if isinstance(channel, RescaledDensity):
        return _always_finite(channel.channel, origin * channel.unit)
    if type(channel) is Poisson:
        return bool(origin + channel.dark > 0.0)
    return type(channel) in (AdditiveGaussian, AdditiveLaplace, Exponential, Gamma)


def in_closed_form(channel: Channel) -> bool:
    """Whether the channel knows its divergences without integrals."""
    return getattr(channel, "divergence_between", None) is not None


def overflows(
    ratio: Callable[[Array], Array], gain: Callable[[Array], Array], origin: float, place: float
) -> bool:
    """Whether the ratio is highest where D leaves the doubles, and still rises: it has no end.

    At half the distance it is then a thousandth or less; a ratio that tends to a limit is not.
    """
    if not _NEARLY * LARGEST <= float(gain(np.array([place]))[0]) < np.inf:
        return False
    half, whole = ratio(np.array([0.5 * (origin + place), place]))
    return bool(half * _RISES < whole)
