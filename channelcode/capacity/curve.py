"""Capacity as a function of power, each point begun from its neighbour."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._numerics.logspace import LOG_TWO, plogp
from channelcode._validation import Array, positive, real_array
from channelcode.capacity.certify.bounds import relative, widened
from channelcode.capacity.curves.path import Path, fill_between
from channelcode.capacity.law_value import divergence, quiet_log_prob
from channelcode.capacity.low_power import LOW, divergence_from_zero
from channelcode.capacity.problem import CapacityResult, Problem
from channelcode.capacity.simplex import SATURATED
from channelcode.capacity.slopes import logistic_slope, probit_slope
from channelcode.capacity.solve import capacity
from channelcode.capacity.solvers.closed_form import attempt
from channelcode.capacity.solvers.continuous import Continuous
from channelcode.capacity.units import natural_unit
from channelcode.certificate import Status
from channelcode.channels import Channel, Logistic, Probit
from channelcode.channels.densities.range import has_density
from channelcode.constraints import Peak, Power
from channelcode.errors import InvalidArgument, NotConverged
from channelcode.measures import DiscreteMeasure

_HALVES = np.array([0.5, 0.5])
STRIDE = 8  # powers between those that are solved one by one
SHORTEST = 24  # a shorter curve is solved one by one throughout


class CapacityCurve:
    """C(P) at each of `powers`, in the order given.

    `bits`, `nats`, `deficit_bits`, `deficit_nats`, `lower`, `upper`, `gap` and `multiplier` are
    arrays of shape `(n,)`, `output` has shape `(n, Y)`; `results` holds the full results and
    `inputs` their laws. Curves are equal if their powers and results are.
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
        laws = (result.input for result in self.results)
        return np.array([len(p) if isinstance(p, DiscreteMeasure) else np.inf for p in laws])

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CapacityCurve):
            return NotImplemented
        return np.array_equal(self.powers, other.powers) and self.results == other.results

    def __hash__(self) -> int:
        return hash((self.powers.tobytes(), self.results))

    def __repr__(self) -> str:
        shown = np.array2string(self.bits, precision=6, threshold=12, separator=", ")
        return f"CapacityCurve({len(self)} powers, bits={shown}, gap<={np.max(self.gap):.1e})"


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
    to certify is the problem solved afresh. Every power is judged as in a single call and has its
    own `status`. If some fail, `NotConverged` carries the whole curve; with `throw=False` it is
    returned.

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
        return _binary_curve(channel, values, tolerance)
    if has_density(channel) or natural_unit(channel) != 1.0:
        each = [
            capacity(channel, c, solver=solver, tol=tolerance, throw=False) for c in constraints
        ]
        return _complete(CapacityCurve(values, tuple(each)), tolerance, throw)
    results: list[CapacityResult | None] = [None] * len(values)
    warm = isinstance(solver, Continuous) or (
        solver is None
        and channel.inputs is None
        and attempt(Problem(channel, constraints[0])) is None
    )
    path = Path(channel, tolerance)
    order = np.argsort(values, kind="stable")
    batched = warm and channel.dim == 1 and limit is None and len(values) >= SHORTEST
    anchors = order[np.unique(np.r_[0 : len(order) : STRIDE, len(order) - 1])] if batched else order

    def solve(index: int) -> None:
        constraint, power = constraints[index], float(values[index])
        result = path.follow(constraint, power) if warm else None
        if result is None:
            result = capacity(channel, constraint, solver=solver, tol=tolerance, throw=False)
        results[index] = result
        path.visit(power, result)

    for index in anchors:
        solve(index)
    if batched:
        fill_between(channel, values, order, results, tolerance, path.cache)
        path.last = []
        for index in order:
            known = results[index]
            if known is None:
                solve(index)
            else:
                path.visit(float(values[index]), known)
    curve = CapacityCurve(values, tuple(r for r in results if r is not None))
    return _complete(curve, tolerance, throw)


def _complete(curve: CapacityCurve, tolerance: float, throw: bool) -> CapacityCurve:
    """The curve, or `NotConverged` with it if a power missed the tolerance."""
    failed = np.flatnonzero([gap > tolerance for gap in curve.gap])
    if throw and len(failed):
        first = int(failed[0])
        raise NotConverged(
            f"{len(failed)} of {len(curve)} powers have a certified gap above tol = "
            f"{tolerance:.3g} bits, first {curve.powers[first]:g} ({curve.gap[first]:.3g}): the "
            "curve is the `result` of this error, with a status for each power",
            curve,
        )
    return curve


def _binary_curve(channel: Channel, powers: Array, tol: float) -> CapacityCurve:
    """The curve of B_sqrt(P) all at once; full results are made when asked for."""
    scale = getattr(channel, "scale", 1.0)
    t = np.minimum(np.sqrt(powers), (SATURATED if type(channel) is Logistic else 40.0) * scale)
    log_prob = quiet_log_prob(channel, t)
    deficit = -plogp(log_prob).sum(axis=-1)
    nats = np.where(deficit <= 0.99 * LOG_TWO, LOG_TWO - deficit, divergence(log_prob, _HALVES))
    low = nats < LOW  # B_t has the output law of l = 0, so that I = D(W_t || W_0)
    if low.any():
        nats[low] = divergence_from_zero(channel, t[low])
    if type(channel) is Logistic:
        slope = logistic_slope(t)
    else:
        slope = np.array([probit_slope(float(each) / scale) for each in t]) / scale**2
    endless = np.isinf(powers)
    finite = np.where(endless, 0.0, powers)
    slope = np.where(endless, 0.0, slope)
    price = slope * finite
    lower, upper = widened(nats, nats, price, LOG_TWO)
    lower[low], upper[low] = relative(nats[low], nats[low])
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
        solve=partial(_solve_at, channel, tol),
    )


def _solve_at(channel: Channel, tol: float, power: float) -> CapacityResult:
    return capacity(channel, Power(power), tol=tol, throw=False)
