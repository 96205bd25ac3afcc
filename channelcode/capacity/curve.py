"""Capacity as a function of power, each point begun from its neighbour."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._numerics.logspace import LOG_TWO, plogp
from channelcode._validation import Array, positive, real_array
from channelcode.capacity.certify import ROUNDING
from channelcode.capacity.closed_form import attempt
from channelcode.capacity.continuous import Continuous
from channelcode.capacity.information import divergence, safe_log_prob
from channelcode.capacity.newton import polish
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.result import CapacityResult
from channelcode.capacity.simplex import SATURATED
from channelcode.capacity.solve import capacity, conclude
from channelcode.capacity.support import within_budget
from channelcode.certificate import Status
from channelcode.channels import Channel, Logistic, Probit
from channelcode.constraints import Peak, Power
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure

_HALVES = np.array([0.5, 0.5])
STRIDE = 8  # powers between those that are solved one by one
SHORTEST = 24  # a shorter curve is solved one by one throughout


class CapacityCurve:
    """C(P) at each of `powers`, in the order given.

    `bits`, `nats`, `deficit_bits`, `deficit_nats`, `lower`, `upper`, `gap` and `multiplier` are
    arrays of shape `(n,)`, `output` has shape `(n, Y)`; `results` holds the full results and
    `inputs` their laws.
    """

    def __init__(
        self,
        powers: Array,
        results: tuple[CapacityResult, ...] | None = None,
        *,
        arrays: dict[str, Array] | None = None,
        solve: Callable[[float], CapacityResult] | None = None,
    ) -> None:
        self.powers = powers
        self._results = results
        self._arrays = {} if arrays is None else arrays
        self._solve = solve

    @property
    def results(self) -> tuple[CapacityResult, ...]:
        """The full result at each power."""
        if self._results is None and self._solve is not None:
            self._results = tuple(self._solve(float(p)) for p in self.powers)
        return self._results or ()

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            self._arrays[name] = np.array([getattr(result, name) for result in self.results])
        return self._arrays[name]

    @property
    def bits(self) -> Array:
        """I(L; Y) of each optimal input, in bits."""
        return self._array("bits")

    @property
    def nats(self) -> Array:
        """The same in nats."""
        return self._array("nats")

    @property
    def deficit_bits(self) -> Array:
        """log2 of the number of outputs minus `bits`, without cancellation."""
        return self._array("deficit_bits")

    @property
    def deficit_nats(self) -> Array:
        """The same in nats."""
        return self._array("deficit_nats")

    @property
    def lower(self) -> Array:
        """Proved lower bounds in bits."""
        return self._array("lower")

    @property
    def upper(self) -> Array:
        """Proved upper bounds in bits."""
        return self._array("upper")

    @property
    def gap(self) -> Array:
        """`upper - lower` in bits."""
        return self._array("gap")

    @property
    def multiplier(self) -> Array:
        """dC/dP in bits per unit power."""
        return self._array("multiplier")

    @property
    def output(self) -> Array:
        """The law of Y at each power, `(n, Y)`."""
        return self._array("output")

    @property
    def inputs(self) -> tuple[DiscreteMeasure, ...]:
        """The optimal input law at each power."""
        return tuple(result.input for result in self.results)

    @property
    def input(self) -> tuple[DiscreteMeasure, ...]:
        """The same as `inputs`."""
        return self.inputs

    @property
    def num_atoms(self) -> Any:
        """How many atoms the optimal input has at each power, `(n,)`."""
        return np.array([len(result.input) for result in self.results])

    @property
    def status(self) -> tuple[Status, ...]:
        """How each solve ended."""
        return tuple(result.status for result in self.results)

    @property
    def scope(self) -> tuple[str, ...]:
        """What each upper bound was proved over."""
        return tuple(result.scope for result in self.results)

    def __len__(self) -> int:
        return len(self.powers)


def capacity_curve(
    channel: Channel,
    powers: ArrayLike,
    *,
    peak: float | None = None,
    solver: Any = None,
    tol: float = 1e-9,
    throw: bool = True,
) -> CapacityCurve:
    """C(P) for many powers: `capacity(channel, Power(P))` along `powers`, warm-started.

    With a continuous channel each power starts from its neighbour's atoms; only where those fail
    to certify is the problem solved afresh. The certificate is as for a single call.

    >>> from channelcode.channels import Logistic
    >>> capacity_curve(Logistic(), [1.0, 4.0]).bits.round(6)
    array([0.160058, 0.472935])
    """
    values = real_array("powers", powers)
    if values.ndim != 1 or values.size == 0:
        raise InvalidArgument("powers", "must be a non-empty list of numbers", powers)
    tolerance = positive("tol", tol)
    limit = None if peak is None else Peak(peak)
    constraints = [Power(float(p)) if limit is None else Power(float(p)) & limit for p in values]
    if solver is None and limit is None and type(channel) in (Logistic, Probit):
        return _binary_curve(channel, values, tolerance, throw)
    results: list[CapacityResult | None] = [None] * len(values)
    warm = isinstance(solver, Continuous) or (
        solver is None
        and channel.inputs is None
        and attempt(Problem(channel, constraints[0])) is None
    )
    path = _Path(channel, tolerance)
    order = np.argsort(values, kind="stable")
    batched = warm and channel.dim == 1 and limit is None and len(values) >= SHORTEST
    anchors = order[np.unique(np.r_[0 : len(order) : STRIDE, len(order) - 1])] if batched else order

    def solve(index: int) -> None:
        constraint, power = constraints[index], float(values[index])
        result = path.follow(constraint, power) if warm else None
        if result is None:
            result = capacity(channel, constraint, solver=solver, tol=tolerance, throw=throw)
        results[index] = result
        path.visit(power, result)

    for index in anchors:
        solve(index)
    if batched:
        _fill(channel, values, order, results, tolerance, path.cache)
        path.last = []
        for index in order:
            known = results[index]
            if known is None:
                solve(index)
            else:
                path.visit(float(values[index]), known)
    return CapacityCurve(values, tuple(r for r in results if r is not None))


def _fill(
    channel: Channel,
    values: Array,
    order: Any,
    results: list[CapacityResult | None],
    tol: float,
    cache: dict[Any, Any],
) -> None:
    """Results between solved powers of equally many atoms, a stretch at a time."""
    from channelcode.capacity.curve_batch import between

    stretch: list[tuple[float, CapacityResult]] = []
    for place in [*order, None]:
        known = None if place is None else results[place]
        if place is not None and known is None:
            continue
        power = 0.0 if place is None else float(values[place])
        same = bool(
            known is not None
            and (not stretch or len(stretch[-1][1].input) == len(known.input))
            and (not stretch or stretch[-1][0] < power <= 8.0 * stretch[0][0])
            and 0 < power < np.inf
            and known.multiplier > 1e-9
        )
        if not same and len(stretch) > 1:
            low, high = stretch[0][0], stretch[-1][0]
            inner = [i for i in order if results[i] is None and low < values[i] < high]
            if inner:
                found = between(channel, stretch, values[inner], tol, cache)
                for index, result in zip(inner, found):
                    results[index] = result
        if not same:
            stretch = stretch[-1:] if known is not None else []
            if stretch and known is not None and len(stretch[0][1].input) != len(known.input):
                stretch = []
        usable = known is not None and 0 < power < np.inf and known.multiplier > 1e-9
        if known is not None and usable and (not stretch or power > stretch[-1][0]):
            stretch.append((power, known))


def _binary_curve(channel: Channel, powers: Array, tol: float, throw: bool) -> CapacityCurve:
    """The curve of B_sqrt(P) all at once; full results are made when asked for."""
    scale = getattr(channel, "scale", 1.0)
    t = np.minimum(np.sqrt(powers), (SATURATED if type(channel) is Logistic else 40.0) * scale)
    log_prob = safe_log_prob(channel, t)
    deficit = -plogp(log_prob).sum(axis=-1)
    nats = np.where(deficit <= 0.99 * LOG_TWO, LOG_TWO - deficit, divergence(log_prob, _HALVES))
    with np.errstate(under="ignore"):
        gradient = np.asarray(channel.derivatives(t).gradient) * np.exp(log_prob)
        rise = (gradient * log_prob).sum(axis=-1)
        small = t < 1e-4 * scale
        safe = np.where(small, 1.0, t)
        at_zero = 0.125 if type(channel) is Logistic else 1.0 / (np.pi * scale**2)
        slope = np.where(small, at_zero, rise / (2.0 * safe))
    slope = np.where(np.isinf(powers), 0.0, slope)
    lower = np.maximum(nats - ROUNDING, 0.0)
    upper = np.minimum(nats + ROUNDING, LOG_TWO)
    arrays = {
        "bits": nats / LOG_TWO,
        "nats": nats,
        "deficit_bits": deficit / LOG_TWO,
        "deficit_nats": deficit,
        "lower": lower / LOG_TWO,
        "upper": upper / LOG_TWO,
        "gap": (upper - lower) / LOG_TWO,
        "multiplier": slope / LOG_TWO,
        "output": np.full((len(powers), 2), 0.5),
    }
    return CapacityCurve(
        powers,
        arrays=arrays,
        solve=lambda p: capacity(channel, Power(p), tol=tol, throw=throw),
    )


class _Path:
    """The last points of the curve, and what they say of the next."""

    def __init__(self, channel: Channel, tol: float) -> None:
        self.channel, self.tol = channel, tol
        self.last: list[tuple[float, CapacityResult]] = []
        self.cache: dict[Any, Any] = {}

    def visit(self, power: float, result: CapacityResult) -> None:
        """Remember a point; a new number of atoms begins a new path."""
        if not (0 < power < np.inf and result.multiplier > 0 and len(result.input) > 1):
            self.last = []
            return
        if self.last and len(self.last[-1][1].input) != len(result.input):
            self.last = []
        if not self.last or power > self.last[-1][0]:
            self.last = [*self.last[-3:], (power, result)]

    def follow(self, constraint: Any, power: float) -> CapacityResult | None:
        """The next point from its neighbours' atoms, or None if that does not certify."""
        if not self.last or not 0 < power < np.inf:
            return None
        problem = Problem(self.channel, constraint, cache=self.cache)
        started = perf_counter()
        points, weights, multiplier = self._guess(power)
        if (problem.norm(points) > problem.limits.peak).any():
            return None
        start = within_budget(problem, points, weights, multiplier)
        polished = polish(problem, *start, enough=1e-4 * self.tol)
        if polished.residual > 0.1 * self.tol or polished.weights.min() < 1e-9:
            return None
        proposal = Proposal(
            *within_budget(problem, polished.points, polished.weights, polished.multiplier),
            "Continuous, from a neighbour",
        )
        result = conclude(problem, proposal, tol=self.tol, throw=False, started=started)
        return result if result.status.ok else None

    def _guess(self, power: float) -> tuple[Array, Array, float]:
        """Atoms, weights and ln s, extrapolated in ln P by a polynomial through the last points."""
        here, result = self.last[-1]
        if len(self.last) == 1:
            scale = float(np.sqrt(power / here))
            return result.input.atoms * scale, result.input.weights, result.multiplier * LOG_TWO
        places = np.log([p for p, _ in self.last])
        goal = float(np.log(power))
        if goal - places[-1] > 2.0 * (places[-1] - places[0]):
            places = places[-1:]
        share = [
            float(np.prod([(goal - b) / (a - b) for j, b in enumerate(places) if j != i]))
            for i, a in enumerate(places)
        ]
        kept = [r for _, r in self.last[-len(share) :]]
        points = sum(c * r.input.atoms for c, r in zip(share, kept))
        weights = np.abs(sum(c * r.input.weights for c, r in zip(share, kept)))
        price = sum(c * np.log(r.multiplier * LOG_TWO) for c, r in zip(share, kept))
        return np.asarray(points), weights / weights.sum(), float(np.exp(price))
