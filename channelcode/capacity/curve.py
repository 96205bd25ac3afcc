"""Capacity as a function of power, each point begun from its neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, positive, real_array
from channelcode.capacity.closed_form import attempt
from channelcode.capacity.continuous import Continuous
from channelcode.capacity.newton import polish
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.result import CapacityResult
from channelcode.capacity.solve import capacity, conclude
from channelcode.capacity.support import within_budget
from channelcode.channels import Channel
from channelcode.constraints import Peak, Power
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure


@dataclass(frozen=True)
class CapacityCurve:
    """C(P) at each of `powers`, in the order given; every array has shape `(n,)`.

    `results` holds the full results and `inputs` their laws; the other fields are theirs, as
    arrays. `output` has shape `(n, Y)`.
    """

    powers: Array
    results: tuple[CapacityResult, ...]

    def _array(self, name: str) -> Array:
        return np.array([getattr(result, name) for result in self.results])

    def __getattr__(self, name: str) -> Any:
        if name in _FIELDS:
            return self._array(name)
        raise AttributeError(f"CapacityCurve has no attribute {name!r}")

    @property
    def inputs(self) -> tuple[DiscreteMeasure, ...]:
        """The optimal input law at each power."""
        return tuple(result.input for result in self.results)

    @property
    def input(self) -> tuple[DiscreteMeasure, ...]:
        """The same as `inputs`."""
        return self.inputs

    @property
    def num_atoms(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many atoms the optimal input has at each power."""
        return np.array([len(result.input) for result in self.results])

    @property
    def status(self) -> tuple[Any, ...]:
        """How each solve ended."""
        return tuple(result.status for result in self.results)

    @property
    def scope(self) -> tuple[str, ...]:
        """What each upper bound was proved over."""
        return tuple(result.scope for result in self.results)

    def __len__(self) -> int:
        return len(self.results)


_FIELDS = frozenset(
    {
        "bits",
        "nats",
        "deficit_bits",
        "deficit_nats",
        "lower",
        "upper",
        "gap",
        "multiplier",
        "output",
    }
)


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
    results: list[CapacityResult | None] = [None] * len(values)
    warm = isinstance(solver, Continuous) or (
        solver is None
        and channel.inputs is None
        and attempt(Problem(channel, constraints[0])) is None
    )
    path = _Path(channel, solver, tolerance)
    for index in np.argsort(values, kind="stable"):
        constraint, power = constraints[index], float(values[index])
        result = path.follow(constraint, power) if warm else None
        if result is None:
            result = capacity(channel, constraint, solver=solver, tol=tolerance, throw=throw)
        results[index] = result
        path.visit(power, result)
    return CapacityCurve(values, tuple(r for r in results if r is not None))


class _Path:
    """The last two points of the curve, and what they say of the next."""

    def __init__(self, channel: Channel, solver: Any, tol: float) -> None:
        self.channel, self.tol = channel, tol
        self.solver = solver if isinstance(solver, Continuous) else Continuous()
        self.last: list[tuple[float, CapacityResult]] = []
        self.cache: dict[Any, Any] = {}

    def visit(self, power: float, result: CapacityResult) -> None:
        """Remember a point."""
        if not (0 < power < np.inf and result.multiplier > 0 and len(result.input) > 1):
            self.last = []
            return
        self.last = [*self.last[-1:], (power, result)]

    def follow(self, constraint: Any, power: float) -> CapacityResult | None:
        """The next point from its neighbours' atoms, or None if that does not certify."""
        if not self.last or not 0 < power < np.inf:
            return None
        problem = Problem(self.channel, constraint, cache=self.cache)
        started = perf_counter()
        points, weights, multiplier = self._guess(power)
        if (problem.norm(points) > problem.limits.peak).any():
            return None
        polished = polish(problem, *within_budget(problem, points, weights, multiplier))
        if polished.residual > 0.1 * self.tol or polished.weights.min() < 1e-9:
            return None
        proposal = Proposal(
            *within_budget(problem, polished.points, polished.weights, polished.multiplier),
            "Continuous, from a neighbour",
        )
        result = conclude(problem, proposal, tol=self.tol, throw=False, started=started)
        return result if result.status.ok else None

    def _guess(self, power: float) -> tuple[Array, Array, float]:
        """Atoms, weights and multiplier, extrapolated in ln P where the support stays the same."""
        here, result = self.last[-1]
        points, weights = result.input.atoms, result.input.weights
        multiplier = result.multiplier * LOG_TWO
        if len(self.last) == 2 and len(self.last[0][1].input) == len(weights):
            before, earlier = self.last[0]
            if before < here < power:
                reach = min(float(np.log(power / here) / np.log(here / before)), 2.0)
                points = points + reach * (points - earlier.input.atoms)
                weights = np.abs(weights + reach * (weights - earlier.input.weights))
                ratio = multiplier / (earlier.multiplier * LOG_TWO)
                return points, weights / weights.sum(), multiplier * ratio**reach
        scale = float(np.sqrt(power / here))
        return points * scale, weights, multiplier
