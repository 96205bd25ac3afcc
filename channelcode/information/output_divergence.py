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
from channelcode.channels.densities.range import (
    Spread,
    kinks,
    line_log_density,
    output_range,
    spaced,
    spread_of,
)
from channelcode.channels.row_check import is_builtin
from channelcode.channels.support import Counts, as_support
from channelcode.information.densities import TOTAL_ATOL, check_total, first_edges, separate
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
        outer = np.concatenate([atoms, [inputs.min(), inputs.max()]])
        spread = spread_of(channel, outer)
        if len(inputs) > 2 and len(separate(spread)) > 1:
            return _one_by_one(channel, inputs, atoms, log_weights)
        edges = first_edges(channel, outer, spread, marked=False)
        corners = kinks(channel, inputs)
        middles = 0.5 * (edges[1:] + edges[:-1])  # one scale a panel: no panel is split later
        edges = np.unique(np.concatenate([edges, corners if len(corners) else middles]))
        half = 0.5 * np.diff(edges)[:, None]
        nodes = (edges[:-1, None] + half * (1.0 + rule.nodes)).ravel()
        fine, coarse = (half * rule.fine).ravel(), (half * rule.coarse).ravel()
    logs = line_log_density(channel, nodes[:, None], atoms)
    log_q = np.asarray(logsumexp(logs + log_weights, axis=1))
    value, error = np.empty(len(inputs)), 0.0
    totals = np.ones(len(inputs))
    step = max(1, _CHUNK // len(nodes))
    for start in range(0, len(inputs), step):
        part = slice(start, start + step)
        logs = line_log_density(channel, nodes, inputs[part, None])
        value[part], wrong = _summed(divergence_terms(logs, log_q), fine, coarse)
        error = max(error, float(wrong.max()))
        if not is_builtin(channel):
            with np.errstate(under="ignore"):
                totals[part] = np.exp(logs) @ fine
    # of the two rules the finer one counts: its error by QUADPACK's rule from their difference
    largest = float(value[np.isfinite(value)].max(initial=0.0))
    error = min(error, (200.0 * error) ** 1.5) + 1e-15 * (1.0 + largest)
    return Divergences(value, error + _missing(channel, inputs, value, totals))


def _summed(terms: Array, fine: Array, coarse: Array) -> tuple[Array, Array]:
    """Integrals along the last axis, and how far two rules differ; infinite where a term is."""
    endless = np.isinf(terms).any(axis=-1)
    finite = np.where(np.isinf(terms), 0.0, terms)
    return np.where(endless, np.inf, finite @ fine), np.abs(finite @ (fine - coarse))


def _missing(channel: Channel, inputs: Array, value: Array, totals: Array) -> float:
    """What the totals say of the error; a density that is no law is refused."""
    lacking = np.abs(totals - 1.0)
    worst = np.argsort(lacking)[-3:]
    for place in worst[lacking[worst] > TOTAL_ATOL]:
        check_total(channel, float(inputs[place]))  # by an adaptive rule, which does not err
    counts = (lacking > 1e-14) & np.isfinite(value)
    return float((lacking * (1.0 + value))[counts].max(initial=0.0))


def _one_by_one(channel: Channel, inputs: Array, atoms: Array, log_weights: Array) -> Divergences:
    """Inputs whose laws do not touch: each over its own range, beyond which only q is left."""
    rule = gauss_kronrod()
    own, base = spread_of(channel, inputs), spread_of(channel, atoms)
    law_edges = first_edges(channel, atoms, base)
    value, totals, error = np.empty(len(inputs)), np.empty(len(inputs)), 0.0
    for k, l in enumerate(inputs):
        spread = Spread(*(part[k : k + 1] for part in own))
        edges = spaced(spread, float(spread.scale[0]), least=8, most=4000).places
        near = law_edges[(law_edges > edges[0]) & (law_edges < edges[-1])]
        edges = np.unique(np.concatenate([edges, near, kinks(channel, inputs[k : k + 1])]))
        half = 0.5 * np.diff(edges)[:, None]
        nodes = (edges[:-1, None] + half * (1.0 + rule.nodes)).ravel()
        fine, coarse = (half * rule.fine).ravel(), (half * rule.coarse).ravel()
        both = line_log_density(channel, nodes[:, None], atoms) + log_weights
        log_q = np.asarray(logsumexp(both, axis=1))
        logs = line_log_density(channel, nodes, np.asarray(l))
        inside, wrong = _summed(divergence_terms(logs, log_q), fine, coarse)
        with np.errstate(under="ignore"):
            totals[k], outside = np.exp(logs) @ fine, 1.0 - float(np.exp(log_q) @ fine)
        value[k] = float(inside) + max(outside, 0.0)
        rounding = 1e-15 * (1.0 + value[k]) if np.isfinite(value[k]) else 0.0
        error = max(error, min(float(wrong), (200.0 * float(wrong)) ** 1.5) + rounding)
    if is_builtin(channel):
        totals[:] = 1.0
    return Divergences(value, error + _missing(channel, inputs, value, totals))


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
