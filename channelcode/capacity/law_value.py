"""What a finite input law carries, its distance from log|Y|, and divergences of the output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.channels import Channel

NEGLIGIBLE = 1e-300  # probabilities below this add nothing to a sum, but their logs may not exist


class LawValue(NamedTuple):
    """I(L; Y), log|Y| - I(L; Y) and the output law, in nats; `log_prob` is that of the atoms."""

    nats: float
    deficit: float
    output: Array
    log_prob: Array


def law_value(log_prob: Array, weights: Array) -> LawValue:
    """I = sum_j w_j D(W_j || q) with q = sum_j w_j W_j, from log-probabilities `(m, Y)`.

    The deficit log|Y| - I = D(q || uniform) + sum_j w_j H(W_j) is a sum of non-negative terms, so
    it keeps its digits when I rounds to log|Y|.
    """
    with np.errstate(under="ignore"):
        prob = np.exp(log_prob)
    output = weights @ prob
    output = output / output.sum()
    count = log_prob.shape[1]
    with np.errstate(invalid="ignore"):
        product = log_prob * prob
    if not np.isfinite(product).all():
        product = np.where(prob == 0.0, 0.0, product)
    entropy = float(-(weights @ product).sum())
    deficit = float(_excess(output * count - 1.0).sum()) / count + entropy
    total = float(np.log(count))
    if deficit <= 0.99 * total:
        return LawValue(total - deficit, deficit, output, log_prob)
    nats = float(weights @ divergence(log_prob, output))
    return LawValue(max(nats, 0.0), total - nats, output, log_prob)


def divergence(log_prob: Array, output: Array) -> Array:
    """D(W || q) in nats for log-probabilities `(n, Y)`; infinite where q misses a possible output.

    Each term is w ln(w/q) - w + q, which is non-negative: nothing cancels but the small terms.
    """
    with np.errstate(divide="ignore", invalid="ignore", under="ignore", over="ignore"):
        prob = np.exp(log_prob)
        log_output = np.log(output)
        terms = prob * (log_prob - log_output)
        close = np.abs(log_prob - log_output) < 0.5
        terms = np.where(prob <= NEGLIGIBLE, 0.0, terms) - prob + output
        exact = output * _excess(np.expm1(log_prob - log_output))
    return np.where(close, exact, terms).sum(axis=-1)


def fast_divergence(negentropy: Array, prob: Array, output: Array) -> Array:
    """D(W || q) as sum_y w ln w - sum_y w ln q: one matrix product, good to rounding of its terms.

    `negentropy` is sum_y w ln w, `(n,)`, `prob` is `(n, Y)`; infinite where q misses an output.
    """
    missed = output <= 0.0
    value = negentropy - prob @ np.log(np.where(missed, 1.0, output))
    if missed.any():
        value = np.where(prob[:, missed].max(axis=1) > NEGLIGIBLE, np.inf, value)
    return value


def quiet_log_prob(channel: Channel, points: Array) -> Array:
    """The channel's log-probabilities; `Channel` keeps its floating-point warnings quiet."""
    return channel.log_prob(points)


def _excess(t: Array) -> Array:
    """(1 + t) ln(1 + t) - t, by its series near zero."""
    if np.abs(t).max() < 1e-3:
        return t * t * (0.5 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t / 30))))
    with np.errstate(divide="ignore", invalid="ignore", under="ignore", over="ignore"):
        series = t * t * (0.5 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t / 30))))
        direct = np.where(t <= -1.0, 1.0, (1.0 + t) * np.log1p(np.maximum(t, -1.0)) - t)
    return np.where(np.abs(t) < 1e-3, series, direct)
