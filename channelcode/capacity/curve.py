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
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.result import CapacityResult
from channelcode.capacity.solve import capacity, conclude
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
    previous: Proposal | None = None
    warm = isinstance(solver, Continuous) or (
        solver is None
        and channel.inputs is None
        and attempt(Problem(channel, constraints[0])) is None
    )
    for index in np.argsort(values, kind="stable"):
        constraint = constraints[index]
        if warm and previous is not None and 0 < values[index] < np.inf:
            found = _continued(channel, constraint, previous, solver, tolerance)
            if found is not None:
                results[index], previous = found
                continue
        result = capacity(channel, constraint, solver=solver, tol=tolerance, throw=throw)
        results[index] = result
        if warm and len(result.input) > 1 and result.multiplier > 0:
            previous = Proposal(
                result.input.atoms, result.input.weights, result.multiplier * LOG_TWO, "Continuous"
            )
    return CapacityCurve(values, tuple(r for r in results if r is not None))


def _continued(
    channel: Channel, constraint: Any, previous: Proposal, solver: Any, tol: float
) -> tuple[CapacityResult, Proposal] | None:
    """The next point of the curve from its neighbour's atoms, or None if that does not certify."""
    problem = Problem(channel, constraint)
    spent = float(previous.weights @ problem.cost(previous.points))
    scale = float(np.sqrt(problem.limits.budget / spent)) if spent > 0 else 1.0
    radii = problem.norm(previous.points * scale)
    if (radii > problem.limits.peak).any():
        return None
    start = Proposal(previous.points * scale, previous.weights, previous.multiplier, "Continuous")
    started = perf_counter()
    method = solver if isinstance(solver, Continuous) else Continuous()
    proposal = method.propose(problem, tol=tol * LOG_TWO, start=start)
    result = conclude(problem, proposal, tol=tol, throw=False, started=started)
    if not result.status.ok:
        return None
    return result, proposal
