"""D(f(.|l) || q) for a channel with a density and the output law q of a finite input law."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from channelcode._numerics.divergence import excess
from channelcode._numerics.quadrature import gauss_kronrod
from channelcode._validation import Array
from channelcode.channels import AdditiveLaplace, Channel
from channelcode.channels.base import as_input
from channelcode.channels.densities.range import kinks, line_log_density, output_range
from channelcode.channels.support import Counts, as_support
from channelcode.information.densities import first_edges
from channelcode.information.mixtures.laplace import LaplaceMixture
from channelcode.measures import DiscreteMeasure

_CHUNK = 1_000_000
_AT_ONCE = 40


class Divergences(NamedTuple):
    """Divergences in nats `(n,)`, and the largest estimated error among them."""

    nats: Array
    error: float


def output_divergence(channel: Channel, l: ArrayLike, measure: DiscreteMeasure) -> Divergences:
    """D(f(.|l) || q) in nats for inputs `l (n,)`, where q is the output law of `measure`.

    The left side of the KKT conditions: at the capacity-achieving law it is C + s (b(l) - P) on the
    support and no more elsewhere.

    >>> from channelcode import AdditiveGaussian
    >>> found = output_divergence(AdditiveGaussian(1.0), [0.0, 1.0], DiscreteMeasure([0.0], [1.0]))
    >>> found.nats.round(6)
    array([0. , 0.5])
    """
    inputs = np.atleast_1d(as_input(channel, l))
    if type(channel) is AdditiveLaplace:
        found = LaplaceMixture(channel.scale, measure.atoms, measure.weights).divergence(inputs)
        return Divergences(found.value, 1e-15 * (4.0 + float(found.value.max())))
    if len(inputs) > _AT_ONCE and len(kinks(channel, inputs[:1])):
        # each corner is an edge: few inputs at a time need few panels
        parts = [
            output_divergence(channel, inputs[i : i + _AT_ONCE], measure)
            for i in range(0, len(inputs), _AT_ONCE)
        ]
        return Divergences(np.concatenate([p.nats for p in parts]), max(p.error for p in parts))
    used = measure.weights > 0
    atoms, log_weights = measure.atoms[used], np.log(measure.weights[used])
    everything = np.concatenate([inputs, atoms])
    if isinstance(as_support(channel.support), Counts):
        low, high = output_range(channel, everything)
        nodes = np.arange(float(low.min()), float(high.max()) + 1.0)
        fine = coarse = np.ones(len(nodes))
    else:
        rule = gauss_kronrod()
        ends = np.array([everything.min(), everything.max()])
        edges = first_edges(channel, np.concatenate([atoms, ends]), marked=False)
        corners = kinks(channel, inputs)
        middles = 0.5 * (edges[1:] + edges[:-1])  # one scale a panel: no panel is split later
        edges = np.unique(np.concatenate([edges, corners if len(corners) else middles]))
        half = 0.5 * np.diff(edges)[:, None]
        nodes = (edges[:-1, None] + half * (1.0 + rule.nodes)).ravel()
        fine, coarse = (half * rule.fine).ravel(), (half * rule.coarse).ravel()
    logs = line_log_density(channel, nodes[:, None], atoms)
    log_q = np.asarray(logsumexp(logs + log_weights, axis=1))
    value, error = np.empty(len(inputs)), 0.0
    step = max(1, _CHUNK // len(nodes))
    for start in range(0, len(inputs), step):
        part = slice(start, start + step)
        terms = divergence_terms(line_log_density(channel, nodes, inputs[part, None]), log_q)
        value[part] = terms @ fine
        error = max(error, float(np.abs(terms @ (fine - coarse)).max()))
    # of the two rules the finer one counts: its error by QUADPACK's rule from their difference
    return Divergences(value, min(error, (200.0 * error) ** 1.5) + 1e-15 * (1.0 + value.max()))


def divergence_terms(logs: Array, log_q: Array) -> Array:
    """q e(f/q - 1) = f ln(f/q) - f + q: never negative; the direct form where f/q is huge."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        difference = logs - log_q
        far = difference > 200.0
        near = np.exp(log_q) * excess(np.maximum(np.expm1(np.where(far, 0.0, difference)), -1.0))
        f = np.exp(logs)
        direct = f * difference - f + np.exp(log_q)
        terms = np.where(far, direct, near)
    nothing = np.isneginf(log_q)
    return np.where(nothing & (logs > -700.0), np.inf, np.where(nothing, 0.0, terms))
