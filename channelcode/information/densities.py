"""Information through channels whose outputs are real numbers or counts without end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp

from channelcode._numerics.divergence import excess
from channelcode._numerics.logspace import LOG_TWO
from channelcode._numerics.quadrature import EPSILON, OFF_MIDDLE, gauss_kronrod
from channelcode._validation import Array
from channelcode.channels import AdditiveGaussian, AdditiveLaplace, Channel
from channelcode.channels.base import as_input
from channelcode.channels.densities.range import kinks, line_log_density, output_range, output_scale
from channelcode.channels.support import Counts, as_support
from channelcode.errors import InvalidArgument
from channelcode.information.mixtures.laplace import LaplaceMixture
from channelcode.information.value import Information
from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    Gaussian,
    GaussianPool,
    Measure,
    Pool,
)

TOTAL_ATOL = 1e-9  # how far a density's integral may be from one
MASS_ATOL = 1e-12  # of the output law, for each panel
TARGET = 1e-13  # nats, for all panels together
_ROUNDS = 50
_CHUNK = 2_000_000
_HALF_RANGE = 9.5  # standard deviations of a Gaussian input that are used
_MOST_NODES = 600  # inputs; a law wider than that many scales of the channel has a large error


class Integrated(NamedTuple):
    """An information in nats and its estimated error."""

    nats: float
    error: float


def density_information(channel: Channel, measure: Measure | Pool) -> Information:
    """I(L; Y) for a channel with a density; see `mutual_information`."""
    if isinstance(measure, DiscreteMeasure):
        found = atoms_information(channel, measure.atoms, measure.weights)
        return Information(found.nats, found.error / LOG_TWO)
    if isinstance(measure, Gaussian):
        found = _gaussian(channel, measure.mean, measure.covariance)
        return Information(found.nats, found.error / LOG_TWO)
    if isinstance(measure, GaussianPool) and type(channel) is AdditiveGaussian:
        nats = 0.5 * np.log1p(measure.covariance / channel.noise**2)
        return Information(nats, np.full(len(nats), 1e-15))
    if isinstance(measure, EmpiricalPool):
        laws = [DiscreteMeasure(row, measure.weights) for row in measure.samples]
    elif isinstance(measure, GaussianPool):
        laws = list(measure)
    else:
        raise InvalidArgument("measure", "must be discrete, empirical or Gaussian", measure)
    each = [density_information(channel, law) for law in laws]
    return Information(np.array([i.nats for i in each]), np.array([i.error for i in each]))


def _gaussian(channel: Channel, mean: float, variance: float) -> Integrated:
    """A Gaussian input: the trapezoid rule in its deviations, at two steps."""
    if variance == 0:
        return Integrated(0.0, 0.0)
    if type(channel) is AdditiveGaussian:
        return Integrated(float(0.5 * np.log1p(variance / channel.noise**2)), 1e-15)
    if type(channel) is AdditiveLaplace:
        return _gaussian_in_laplace(channel, float(np.sqrt(variance)))
    if channel.domain != (-np.inf, np.inf):
        rule = f"must lie in the channel's domain, {channel.domain}"
        raise InvalidArgument("measure", rule, f"a Gaussian law of mean {mean}")
    sigma = float(np.sqrt(variance))
    scale = float(output_scale(channel, np.array([mean])).min())
    step = min(0.25, 0.5 * scale / sigma)
    half = int(np.ceil(_HALF_RANGE / step))
    if half > _MOST_NODES // 2:
        half = _MOST_NODES // 2
        step = _HALF_RANGE / half
    z = np.asarray(step * np.arange(-half, half + 1), dtype=np.float64)
    found = []
    for part in (z[half % 2 :: 2], z):
        weights = np.exp(-0.5 * part * part)
        found.append(atoms_information(channel, mean + sigma * part, weights / weights.sum()))
    return Integrated(found[1].nats, found[1].error + abs(found[1].nats - found[0].nats))


def _gaussian_in_laplace(channel: AdditiveLaplace, sigma: float) -> Integrated:
    """I = h(Y) - h(noise): the density of a Gaussian plus a Laplace variable is known.

    q(y) = (r(u) + r(-u)) / 2b, r(u) = exp(s^2/2 - u) Phi(u/s - s), u = y/b and s = sigma/b.
    """
    s, rule = sigma / channel.scale, gauss_kronrod()
    reach = _HALF_RANGE * s + 46.0
    # Phi(u/s - s) changes within s of zero, the tails on the scale of one
    near = np.geomspace(min(s, 1.0) * 1e-3, reach, 400)
    edges = np.unique(np.concatenate([[0.0], near, np.linspace(0.0, reach, 400)]))
    half = 0.5 * np.diff(edges)[:, None]
    u = edges[:-1, None] + half * (1.0 + rule.nodes)
    sides = [0.5 * s * s - x + log_ndtr(x / s - s) for x in (u, -u)]
    log_q = np.logaddexp(*sides) - LOG_TWO
    terms = -np.exp(log_q) * log_q
    value = 2.0 * float((half * rule.fine * terms).sum())
    error = 2.0 * float(rule.disagreement(terms[..., None], half[:, 0]).sum())
    return Integrated(max(value - 1.0 - LOG_TWO, 0.0), error + 1e-14)


def atoms_information(channel: Channel, atoms: Array, weights: Array) -> Integrated:
    """I(L; Y) of finitely many inputs: the integral of q(y) sum_j w_j e(f_j/q - 1) over y.

    e(d) = (1 + d) ln(1 + d) - d >= 0 (`excess`): no term is negative. Counts are summed until the
    rest is proved to be negligible; a density is integrated by adaptive Gauss-Kronrod panels.
    """
    used = weights > 0
    l, log_weights = as_input(channel, atoms[used]), np.log(weights[used])
    if type(channel) is AdditiveLaplace:
        law = LaplaceMixture(channel.scale, l, weights[used])
        value = float(weights[used] @ law.divergence(l).value)
        return Integrated(value, 1e-15 * (4.0 + value))
    if isinstance(as_support(channel.support), Counts):
        return _counted(channel, l, log_weights)
    rule = gauss_kronrod()
    edges = first_edges(channel, l)
    left, right = edges[:-1], edges[1:]
    inside = _touched(channel, l, left, right)
    left, right = left[inside], right[inside]
    total, error, totals = 0.0, 0.0, np.zeros(len(l))
    # outputs far out are rounded themselves, by this share of the scale of the law
    noise = EPSILON * max(np.abs(edges[[0, -1]]).max() / output_scale(channel, l).min() - 1e3, 0.0)
    for step in range(_ROUNDS + 1):
        half = 0.5 * (right - left)
        nodes = (left + half)[:, None] + half[:, None] * rule.nodes
        shares = half[:, None] * rule.fine
        density, output, masses = _integrand(channel, nodes, l, log_weights, shares)
        value = half * (density @ rule.fine)
        wrong = rule.disagreement(density[..., None], half)[:, 0]
        # also where the law is not resolved, or a missing total could not be told from a coarse one
        split = rule.disagreement(output[..., None], half)[:, 0] > MASS_ATOL + noise
        split |= wrong > max(TARGET * min(1.0, total + float(value.sum())), 1e-18) / 64 + noise
        if step == _ROUNDS or len(left) > 20_000:
            split = np.zeros(len(left), dtype=bool)
        keep = ~split
        total += float(value[keep].sum())
        error += float(wrong[keep].sum())
        totals += masses[keep].sum(axis=0)
        if not split.any():
            break
        middle = (left + 2.0 * OFF_MIDDLE * half)[split]
        left, right = np.concatenate([left[split], middle]), np.concatenate([middle, right[split]])
    _check_totals(channel, l, totals, TOTAL_ATOL + 10.0 * noise)
    spread = float(-(np.exp(log_weights) @ log_weights))
    error += (1e-15 + noise + float(np.abs(totals - 1.0).max())) * (1.0 + total)
    return Integrated(min(total, spread), error)


def first_edges(channel: Channel, l: Array, *, marked: bool = True) -> Array:
    """A first partition of the outputs: two scales wide, at corners, and at each law's ends."""
    low, high = output_range(channel, l)
    scale = float(output_scale(channel, l).min())
    start, stop = float(low.min()), float(high.max())
    middles = 0.5 * (low + high)
    marks = [kinks(channel, l)]
    order = np.argsort(low)
    reach = np.maximum.accumulate(high[order])
    fresh = np.concatenate([[True], low[order][1:] > reach[:-1]])  # laws that touch none before
    firsts = np.flatnonzero(fresh)
    for begin, end in zip(firsts, [*firsts[1:], len(l)], strict=True):
        left, right = float(low[order][begin]), float(reach[end - 1])
        count = int(np.clip(np.ceil((right - left) / (2.0 * scale)), 8, 4000))
        marks.append(np.linspace(left, right, count + 1))
    if marked and len(l) <= 200:
        marks += [low, high, middles + 0.0371 * scale]
    edges = np.unique(np.concatenate(marks))
    edges = edges[(edges >= start) & (edges <= stop)]
    wide = np.diff(edges) > 1e-12 * max(abs(start), abs(stop), scale)
    return edges[np.concatenate([[True], wide])]


def _touched(channel: Channel, l: Array, left: Array, right: Array) -> Any:
    """Panels that meet the range of some law; between far laws there is nothing to integrate."""
    low, high = output_range(channel, l)
    order = np.argsort(low)
    reach = np.maximum.accumulate(high[order])
    place = np.searchsorted(low[order], right, side="left") - 1
    return (place >= 0) & (reach[np.maximum(place, 0)] > left)


def _integrand(
    channel: Channel, nodes: Array, l: Array, log_weights: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """q sum_j w_j e(f_j/q - 1) and q at the nodes `(panels, 23)`, and each law's mass by panel."""
    shape = nodes.shape
    flat, share = nodes.reshape(-1), weights.reshape(-1)
    density, output = np.empty(len(flat)), np.empty(len(flat))
    masses = np.empty((len(flat), len(l)))
    step = max(1, _CHUNK // len(l))
    for start in range(0, len(flat), step):
        part = slice(start, start + step)
        logs = line_log_density(channel, flat[part, None], l)
        log_q = np.asarray(logsumexp(logs + log_weights, axis=1, keepdims=True))
        density[part] = _spread(logs, log_q, log_weights)
        output[part] = np.exp(log_q[:, 0])
        masses[part] = np.exp(logs) * share[part, None]
    return (
        density.reshape(shape),
        output.reshape(shape),
        masses.reshape(*shape, len(l)).sum(axis=1),
    )


def _spread(logs: Array, log_q: Array, log_weights: Array) -> Array:
    """q sum_j w_j e(f_j/q - 1) from ln f_j, ln q and ln w_j, along the last axis."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        ratio = np.where(np.isneginf(log_q), 0.0, np.expm1(logs - log_q))
        terms = np.exp(log_weights) * excess(np.maximum(ratio, -1.0))
        # where f_j / q is huge the weight is tiny: take the product in logarithms
        far = ratio > 1e100
        direct = np.exp(log_weights + logs - log_q) * (logs - log_q)
        terms = np.where(far, direct, terms)
        return np.exp(log_q[..., 0]) * terms.sum(axis=-1)


def _counted(channel: Channel, l: Array, log_weights: Array) -> Integrated:
    """The sum over counts; what lies beyond carries at most its mass times H(L)."""
    low, high = output_range(channel, l)
    first, last = float(low.min()), float(high.max())
    counts = np.arange(first, last + 1.0)
    total, totals = 0.0, np.zeros(len(l))
    step = max(1, _CHUNK // len(l))
    for start in range(0, len(counts), step):
        logs = line_log_density(channel, counts[start : start + step, None], l)
        log_q = np.asarray(logsumexp(logs + log_weights, axis=1, keepdims=True))
        total += float(_spread(logs, log_q, log_weights).sum())
        totals += np.exp(logs).sum(axis=0)
    _check_totals(channel, l, totals, TOTAL_ATOL)
    spread = float(-(np.exp(log_weights) @ log_weights))
    # large counts lose digits of their probabilities, and the totals show how many
    error = 1e-18 * spread + (1e-15 + float(np.abs(totals - 1.0).max())) * (1.0 + total)
    return Integrated(min(total, spread), error)


def _check_totals(channel: Channel, l: Array, totals: Array, atol: float) -> None:
    wrong = ~(np.abs(totals - 1.0) <= atol)
    if wrong.any():
        place = int(np.argmax(wrong))
        name = f"{type(channel).__name__}.log_density"
        shown = f"an integral of {float(totals[place])!r} at l = {float(l[place])!r}"
        raise InvalidArgument(name, "must integrate to one over the support", shown)
