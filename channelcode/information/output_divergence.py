"""D(f(.|l) || q) for a channel with a density and the output law q of a finite input law."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from channelcode._numerics.divergence import excess
from channelcode._numerics.quadrature import EPSILON, OFF_MIDDLE, gauss_kronrod
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
from channelcode.information.densities import (
    MASS_ATOL,
    TARGET,
    TOTAL_ATOL,
    check_total,
    first_edges,
    panel_nodes,
)
from channelcode.information.mixtures.laplace import LaplaceMixture
from channelcode.measures import DiscreteMeasure

_CHUNK = 1_000_000
_AT_ONCE = 40  # inputs with corners: each corner is an edge, and few need few panels
_TOGETHER = 256  # inputs that share their panels
_FAR = 60.0  # scales between their laws
_UNLIKE = 8.0  # times as wide
_WIDER = 4.0  # times the range of the inputs: if q is wider than that, the rest of it is not seen
_ROUNDS = 45
_MOST_PANELS = 40_000  # panels times inputs


class Divergences(NamedTuple):
    """Divergences in nats `(n,)`, the largest estimated error among them, and all of these."""

    nats: Array
    error: float
    errors: Array


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
        errors = 1e-15 * (4.0 + found.value)
        return Divergences(found.value, float(errors.max()), errors)
    used = measure.weights > 0
    atoms, log_weights = measure.atoms[used], np.log(measure.weights[used])
    if isinstance(as_support(channel.support), Counts):
        value, errors, totals = _summed(channel, inputs, atoms, log_weights)
    else:
        value, errors, totals = _integrated(channel, inputs, atoms, log_weights)
    known = np.where(np.isfinite(value), value, 0.0)
    # ln(f/q) is good to rounding, and D of small changes is half its mean square
    errors = errors + 4e-15 * (np.sqrt(known) + known) + _missing(channel, inputs, known, totals)
    errors = np.where(np.isfinite(value), errors, 0.0)
    return Divergences(value, float(errors.max(initial=0.0)), errors)


def _summed(
    channel: Channel, inputs: Array, atoms: Array, log_weights: Array
) -> tuple[Array, Array, Array]:
    """Values, errors and totals by sums over the counts."""
    low, high = output_range(channel, np.concatenate([inputs, atoms]))
    counts = np.arange(float(low.min()), float(high.max()) + 1.0)
    log_q = _log_output(channel, counts, atoms, log_weights)
    value, totals = np.empty(len(inputs)), np.ones(len(inputs))
    step = max(1, _CHUNK // len(counts))
    for start in range(0, len(inputs), step):
        part = slice(start, start + step)
        logs = line_log_density(channel, counts, inputs[part, None])
        value[part] = divergence_terms(logs, log_q).sum(axis=-1)
        if not is_builtin(channel):
            with np.errstate(under="ignore"):
                totals[part] = np.exp(logs).sum(axis=-1)
    return value, np.zeros(len(inputs)), totals


def _log_output(channel: Channel, outputs: Array, atoms: Array, log_weights: Array) -> Array:
    """ln q at outputs `(n,)`."""
    found = np.empty(len(outputs))
    step = max(1, _CHUNK // len(atoms))
    for start in range(0, len(outputs), step):
        part = slice(start, start + step)
        both = line_log_density(channel, outputs[part, None], atoms) + log_weights
        found[part] = logsumexp(both, axis=1)
    return found


def _integrated(
    channel: Channel, inputs: Array, atoms: Array, log_weights: Array
) -> tuple[Array, Array, Array]:
    """Values, errors and totals by adaptive panels, for near inputs together."""
    base = spread_of(channel, atoms)
    law_edges = first_edges(channel, atoms, base)
    value, errors, totals = (np.empty(len(inputs)) for _ in range(3))
    cornered = len(kinks(channel, inputs[:1])) > 0
    for members in _groups(channel, inputs, _AT_ONCE if cornered else _TOGETHER):
        own = inputs[members]
        spread = spread_of(channel, _few(own))
        edges = spaced(spread, float(spread.scale.min()), least=8, most=4000).places
        low, high = float(edges[0]), float(edges[-1])
        first, last = min(low, float(base.low.min())), max(high, float(base.high.max()))
        whole = last - first <= _WIDER * (high - low)
        if whole:  # beyond the ends there is nothing; otherwise the rest of q is
            low, high = first, last
        inside = law_edges[(law_edges > low) & (law_edges < high)]
        edges = np.concatenate([[low, high], edges, inside, kinks(channel, own)])
        edges = np.unique(edges[(edges >= low) & (edges <= high)])
        keep = np.diff(edges) > 1e-15 * np.maximum(np.abs(edges[1:]), high - low)
        panels = _Panels(channel, own, atoms, log_weights, spread)
        panels.run(edges[np.concatenate([[True], keep])])
        value[members] = panels.value + (0.0 if whole else max(1.0 - panels.output, 0.0))
        errors[members], totals[members] = panels.error, panels.total
    if is_builtin(channel):
        totals[:] = 1.0
    return value, errors, totals


def _few(inputs: Array) -> Array:
    """The ends and the middle of sorted inputs."""
    return np.unique(inputs[[0, len(inputs) // 2, -1]])


def _groups(channel: Channel, inputs: Array, most: int) -> list[Any]:
    """Places of inputs in groups, sorted, whose output laws lie not far from each other."""
    pending, found = [np.argsort(inputs, kind="stable")], []
    while pending:
        members = pending.pop()
        spread = spread_of(channel, _few(inputs[members]))
        far = np.ptp(spread.centre) > _FAR * spread.scale.min()
        unlike = spread.scale.max() > _UNLIKE * spread.scale.min()
        if len(members) > most or (len(members) > 1 and (far or unlike)):
            pending += [members[len(members) // 2 :], members[: len(members) // 2]]
        else:
            found.append(members)
    return found


class _Panels:
    """Integrals over the outputs for some inputs, panel by panel, split where any needs it."""

    def __init__(
        self, channel: Channel, inputs: Array, atoms: Array, log_weights: Array, spread: Spread
    ) -> None:
        self.channel, self.inputs = channel, inputs
        self.atoms, self.log_weights = atoms, log_weights
        self.value, self.error, self.total = (np.zeros(len(inputs)) for _ in range(3))
        self.output = 0.0  # mass of q
        # outputs far out are rounded themselves, by this share of the scale of the law
        farthest = np.abs(np.append(spread.first, spread.last)).max()
        self.noise = EPSILON * max(float(farthest / spread.scale.min()) - 1e3, 0.0)

    def run(self, edges: Array) -> None:
        """Integrate over panels between the edges, splitting as long as it pays."""
        left, right, work, most = edges[:-1], edges[1:], 0, 0.0
        for turn in range(_ROUNDS + 1):
            work += len(left) * len(self.inputs)
            most = most or max(_MOST_PANELS, 4.0 * work)
            settle = turn == _ROUNDS or work > most
            split = self._added(left, right, settle=settle)
            if not split.any():
                break
            middle = (left + OFF_MIDDLE * (right - left))[split]
            left = np.concatenate([left[split], middle])
            right = np.concatenate([middle, right[split]])
        self.error += self.noise * (1.0 + np.where(np.isfinite(self.value), self.value, 0.0))

    def _added(self, left: Array, right: Array, *, settle: bool) -> Any:
        """Add the panels that are fine as they are; which of them are not."""
        rule, split = gauss_kronrod(), np.zeros(len(left), dtype=bool)
        step = max(1, _CHUNK // (len(rule.nodes) * len(self.inputs)))
        parts = [slice(start, start + step) for start in range(0, len(left), step)]
        seen = [self._seen(left[part], right[part]) for part in parts]
        sizes = self.value + sum(found[0].sum(axis=1) for found in seen)
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        for part, (value, wrong, mass, unsure, output) in zip(parts, seen, strict=True):
            goal = np.maximum(TARGET * sizes, 1e-18) / 64.0 + self.noise * (1.0 + sizes)
            bad = (wrong > goal[:, None]) | (unsure > MASS_ATOL + self.noise)
            # an infinite term stays one however often the panel is split
            split[part] = (bad & np.isfinite(value)).any(axis=0) & (not settle)
            keep = ~split[part]
            self.value += value[:, keep].sum(axis=1)
            self.error += wrong[:, keep].sum(axis=1)
            self.total += mass[:, keep].sum(axis=1)
            self.output += float(output[keep].sum())
        return split

    def _seen(self, left: Array, right: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Integrals `(inputs, panels)` with errors, masses with errors, and masses of q."""
        rule = gauss_kronrod()
        nodes, half = panel_nodes(left, right)
        shape = (len(self.inputs), *nodes.shape)
        flat = nodes.ravel()
        log_q = _log_output(self.channel, flat, self.atoms, self.log_weights)
        logs = line_log_density(self.channel, flat, self.inputs[:, None])
        terms = divergence_terms(logs, log_q).reshape(shape)
        counted = terms[..., 1:-1]  # nodes at the ends have no weight
        endless = np.isinf(counted).any(axis=-1)
        terms = np.where(np.isinf(terms), 0.0, terms)
        with np.errstate(under="ignore"):
            masses = np.exp(logs).reshape(shape)
            output = half * (np.exp(log_q).reshape(nodes.shape) @ rule.fine)
        value = np.where(endless, np.inf, half * (terms @ rule.fine))
        wrong = half * (
            np.abs(terms @ (rule.fine - rule.coarse)) + np.abs(terms @ rule.ends.T).sum(axis=-1)
        )
        unsure = half * np.abs(masses @ (rule.fine - rule.coarse))
        # of the two rules the finer one counts: its error by QUADPACK's rule from their difference
        size = np.maximum(half * (np.abs(terms) @ rule.fine), 1e-300)
        share = np.minimum(200.0 * wrong / size, 1e9)
        wrong = np.minimum(wrong, size * share**1.5)
        return value, wrong, half * (masses @ rule.fine), unsure, output


def _missing(channel: Channel, inputs: Array, value: Array, totals: Array) -> Array:
    """What the totals say of the errors; a density that is no law is refused."""
    lacking = np.abs(totals - 1.0)
    worst = np.argsort(lacking)[-3:]
    for place in worst[lacking[worst] > TOTAL_ATOL]:
        check_total(channel, float(inputs[place]))  # alone, it may be resolved
    return np.where(lacking > 1e-14, lacking * (1.0 + value), 0.0)


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
