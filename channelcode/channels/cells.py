"""Channels whose outputs are the cells between thresholds on a noisy scale."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from channelcode._numerics.logspace import log1mexp, log_difference, saturated
from channelcode._validation import Array, finite_array, read_only
from channelcode.channels.base import Channel, Derivatives, numerical_derivatives
from channelcode.channels.lapse import Lapse
from channelcode.channels.links.cauchit import Cauchit
from channelcode.channels.links.cloglog import Cloglog
from channelcode.channels.links.logistic import Logistic
from channelcode.channels.links.probit import Probit
from channelcode.channels.mapped.features import Features
from channelcode.errors import InvalidArgument

NARROW = 1e-4  # cells below this, in widths of the link, lose digits in differences of densities


def ordered_thresholds(thresholds: ArrayLike) -> tuple[float, ...]:
    """Return strictly increasing thresholds as a tuple."""
    cuts = finite_array("thresholds", thresholds, ndim=(0, 1)).reshape(-1)
    steps = np.diff(cuts)
    if (steps <= 0).any():
        where = int(np.argmax(steps <= 0))
        shown = f"{float(cuts[where])!r} before {float(cuts[where + 1])!r}"
        raise InvalidArgument("thresholds", "must be strictly increasing", shown)
    return tuple(float(t) for t in cuts)


def has_peaked_density(link: Channel) -> bool:
    """Whether the slope of the response is known to rise, then fall, with its peak at a landmark.

    Then so does the probability of every cell.
    """
    while isinstance(link, Lapse | Features) and type(link) in (Lapse, Features):
        link = link.channel
    return type(link) in (Logistic, Probit, Cauchit, Cloglog)


def cell_log_prob(link: Channel, thresholds: tuple[float, ...], l: Array) -> Array:
    """ln[F(t_k - l) - F(t_{k-1} - l)] for every cell, where F is the response of `link`.

    Each cell is taken from the side where nothing cancels: from below, from above, or as one
    minus both tails.
    """
    edges = np.asarray(thresholds) - l[..., None]
    if type(link) is Logistic:
        return _logistic_cells(edges, thresholds)
    tails = link.log_prob(edges)
    above, below = tails[..., 0], tails[..., 1]  # ln P(Y > k), ln P(Y <= k)
    lower_left, lower_right = below[..., :-1], below[..., 1:]
    upper_left, upper_right = above[..., :-1], above[..., 1:]
    outside = np.logaddexp(lower_left, upper_right)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore", over="ignore"):
        from_below = log_difference(lower_right, lower_left)
        from_above = log_difference(upper_left, upper_right)
        from_outside = log1mexp(np.minimum(outside, 0.0))
    inner = np.where(lower_right <= upper_left, from_below, from_above)
    inner = np.where(outside < -np.log(2.0), from_outside, inner)
    inner = saturated(np.where(np.isnan(inner), -np.inf, inner))
    return np.concatenate([below[..., :1], inner, above[..., -1:]], axis=-1)


def _logistic_cells(edges: Array, thresholds: tuple[float, ...]) -> Array:
    """sigma(b) - sigma(a) = sigma(b) sigma(-a) (1 - exp(a - b)): a product, so nothing cancels."""
    rows = np.zeros((*edges.shape[:-1], edges.shape[-1] + 1))
    rows[..., :-1] = log_expit(edges)
    rows[..., 1:] += log_expit(-edges)
    rows[..., 1:-1] += _log_shares(thresholds)
    return rows


@lru_cache(maxsize=64)
def _log_shares(thresholds: tuple[float, ...]) -> Array:
    """ln(1 - exp(a - b)) for neighbouring thresholds a < b."""
    return read_only(log1mexp(-np.diff(np.asarray(thresholds))))


def cell_derivatives(channel: Channel, link: Channel, thresholds: Array, l: Array) -> Derivatives:
    """Derivatives of `cell_log_prob` in l from those of the link.

    With f = F', an inner cell has p' = f(left) - f(right) and p'' = f'(right) - f'(left), each
    taken relative to p in logs, so that tails keep their digits. A link without formulas, or a cell
    too narrow for a difference, is differentiated numerically.
    """
    edges = thresholds - l[..., None]
    if isinstance(link, Logistic):
        up, down = expit(edges), expit(-edges)
        zero = np.zeros((*l.shape, 1))
        # ln P(cell) = ln sigma(right) + ln sigma(-left) + const, right and left of the cell
        gradient = np.concatenate([-down, zero], axis=-1) + np.concatenate([zero, up], axis=-1)
        bend = -up * down
        hessian = np.concatenate([bend, zero], axis=-1) + np.concatenate([zero, bend], axis=-1)
        return Derivatives(gradient, hessian)
    width = link.scale if isinstance(link, Probit) else 1.0
    wide = np.diff(thresholds).min(initial=np.inf) > NARROW * width
    if type(link) not in (Probit, Cauchit, Cloglog) or not wide:
        return numerical_derivatives(channel, l)
    rise, bend = link.derivatives(edges)
    log_cell = cell_log_prob(link, tuple(thresholds), l)[..., 1:-1]
    log_tail = link.log_prob(edges)[..., 1]
    with np.errstate(all="ignore"):
        first, second = rise[..., 1], bend[..., 1] + rise[..., 1] ** 2  # f / F and f' / F
        left, right = log_tail[..., :-1] - log_cell, log_tail[..., 1:] - log_cell
        slope = _relative(first[..., :-1], left) - _relative(first[..., 1:], right)
        curve = _relative(second[..., 1:], right) - _relative(second[..., :-1], left)
        curve = curve - slope**2
    gradient = np.concatenate([-rise[..., :1, 1], slope, -rise[..., -1:, 0]], axis=-1)
    hessian = np.concatenate([bend[..., :1, 1], curve, bend[..., -1:, 0]], axis=-1)
    if np.isfinite(gradient).all() and np.isfinite(hessian).all():
        return Derivatives(gradient, hessian)
    usable = np.isfinite(gradient) & np.isfinite(hessian)
    numerical = numerical_derivatives(channel, l)
    return Derivatives(
        np.where(usable, gradient, numerical.gradient), np.where(usable, hessian, numerical.hessian)
    )


def _relative(value: Array, log_ratio: Array) -> Array:
    """value * exp(log_ratio), in logs, as one factor may overflow where the other is small."""
    return np.sign(value) * np.exp(np.log(np.abs(value)) + log_ratio)
