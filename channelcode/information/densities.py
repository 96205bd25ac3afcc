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
from channelcode.channels.densities.range import (
    Spread,
    kinks,
    line_log_density,
    output_range,
    output_scale,
    spaced,
    spread_of,
)
from channelcode.channels.mapped.rescaled_density import as_given
from channelcode.channels.row_check import is_builtin
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
_MOST_WORK = 20_000_000  # densities: a jump at each of many inputs is not resolved, and says so
_HALF_RANGE = 9.5  # standard deviations of a Gaussian input that are used
_MOST_NODES = 600  # inputs; a law wider than that many scales of the channel has a large error


class Integrated(NamedTuple):
    """An information in nats, its estimated error, and the spacing of the inputs it rests on."""

    nats: float
    error: float
    resolution: float = 0.0


def density_information(channel: Channel, measure: Measure | Pool) -> Information:
    """I(L; Y) for a channel with a density; see `mutual_information`."""
    if isinstance(measure, DiscreteMeasure):
        found = atoms_information(channel, measure.atoms, measure.weights)
        return Information(found.nats, found.error / LOG_TWO)
    if isinstance(measure, Gaussian):
        found = _gaussian(channel, measure.mean, measure.covariance)
        return Information(found.nats, found.error / LOG_TWO, resolution=found.resolution)
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
    seen = np.array([i.resolution for i in each])
    errors = np.array([i.error for i in each])
    return Information(np.array([i.nats for i in each]), errors, resolution=seen)


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
    error = found[1].error + abs(found[1].nats - found[0].nats)
    return Integrated(found[1].nats, error, 0.0 if is_builtin(channel) else sigma * step)


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
    spread = spread_of(channel, l)
    edges = first_edges(channel, l, spread)
    left, right = edges[:-1], edges[1:]
    inside = _touched(spread, left, right)
    left, right = left[inside], right[inside]
    total, error, totals, work, most = 0.0, 0.0, np.zeros(len(l)), 0, 0
    # outputs far out are rounded themselves, by this share of the scale of the law
    farthest = np.abs(np.append(spread.first, spread.last)).max()
    noise = EPSILON * max(farthest / spread.scale.min() - 1e3, 0.0)
    for step in range(_ROUNDS + 1):
        nodes, half = panel_nodes(left, right)
        shares = half[:, None] * rule.fine
        density, output, masses = _integrand(channel, nodes, l, log_weights, shares)
        value = half * (density @ rule.fine)
        wrong = rule.disagreement(density[..., None], half)[:, 0]
        # also where the law is not resolved, or a missing total could not be told from a coarse one
        split = rule.disagreement(output[..., None], half)[:, 0] > MASS_ATOL + noise
        split |= wrong > max(TARGET * min(1.0, total + float(value.sum())), 1e-18) / 64 + noise
        work += nodes.size * len(l)
        most = max(_MOST_WORK, 4 * work) if step == 0 else most
        if step == _ROUNDS or len(left) > 20_000 or work > most:
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
    weight = np.exp(log_weights)
    amount = float(-(weight @ log_weights))
    # a law of little weight is not resolved: what its total lacks is worth ln(1/w) at most
    error += float((weight * (1.0 - log_weights)) @ np.abs(totals - 1.0))
    error += (1e-15 + noise) * (1.0 + total)
    return Integrated(min(total, amount), error)


def panel_nodes(left: Array, right: Array) -> tuple[Array, Array]:
    """Nodes `(panels, 23)` of the Gauss-Kronrod rule, and half the widths `(panels,)`.

    The nodes at the ends lie just inside: a jump at an edge is no jump in either panel.
    """
    half = 0.5 * (right - left)
    nodes = (left + half)[:, None] + half[:, None] * gauss_kronrod().nodes
    inwards = np.minimum(8.0 * EPSILON * np.maximum(np.abs(left), np.abs(right)), 1e-3 * half)
    nodes[:, 0], nodes[:, -1] = left + inwards, right - inwards
    return nodes, half


def first_edges(channel: Channel, l: Array, spread: Spread, *, marked: bool = True) -> Array:
    """A first partition of the outputs: two scales wide, at corners, and at each law's ends."""
    scale = float(spread.scale.min())
    start, stop = float(spread.low.min()), float(spread.high.max())
    marks = [kinks(channel, l)]
    for members in separate(spread):
        own = Spread(*(part[members] for part in spread))
        marks.append(spaced(own, 2.0 * scale, least=8, most=4000).places)
    if marked and len(l) <= 200:
        marks += [spread.low, spread.high, spread.centre + 0.0371 * scale]
    edges = np.unique(np.concatenate(marks))
    edges = edges[(edges >= start) & (edges <= stop)]
    wide = np.diff(edges) > 1e-12 * np.maximum(np.abs(edges[1:]), scale)
    return edges[np.concatenate([[True], wide])]


def separate(spread: Spread) -> list[Any]:
    """Places of the laws in groups whose ranges do not touch."""
    order = np.argsort(spread.low)
    reach = np.maximum.accumulate(spread.high[order])
    return np.split(order, np.flatnonzero(spread.low[order][1:] > reach[:-1]) + 1)


def _touched(spread: Spread, left: Array, right: Array) -> Any:
    """Panels that meet the range of some law; between far laws there is nothing to integrate."""
    order = np.argsort(spread.low)
    reach = np.maximum.accumulate(spread.high[order])
    place = np.searchsorted(spread.low[order], right, side="left") - 1
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
    wrong = np.flatnonzero(~(np.abs(totals - 1.0) <= atol))
    if len(wrong) == 0:
        return
    place = int(wrong[np.argmax(np.abs(totals[wrong] - 1.0))])
    if len(l) > 1:  # beside others a law of little weight may not have been resolved: alone it is
        for other in dict.fromkeys([place, *wrong[:: max(1, len(wrong) // 8)].tolist()]):
            check_total(channel, float(l[other]))
        return
    given, at = as_given(channel, float(l[place]))
    name = f"{type(given).__name__}.log_density"
    shown = f"an integral of {float(totals[place])!r} at l = {at!r}"
    rule = "must integrate to one over the support"
    if getattr(channel, "output_range", None) is None:
        rule += " (mass that lies far from the highest peak is found where the channel says so: "
        rule += (
            "output_range(l) gives both ends of each law, output_scale(l) the width of its peaks)"
        )
    raise InvalidArgument(name, rule, shown)


def check_total(channel: Channel, l: float) -> None:
    """Refuse a density that does not integrate to one at this input."""
    atoms_information(channel, np.array([l]), np.ones(1))
