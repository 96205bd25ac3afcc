"""Along a curve of powers each answer suggests the next."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.curves.between import between
from channelcode.capacity.problem import CapacityResult, Problem, Proposal
from channelcode.capacity.solve import judged
from channelcode.capacity.solvers.continuous.atoms import within_budget
from channelcode.capacity.solvers.continuous.newton import polish
from channelcode.channels import Channel
from channelcode.constraints import Power


class Path:
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
        with np.errstate(all="ignore"):  # from a power so far off that nothing is left to scale
            points, weights, multiplier = self._guess(power)
            if (problem.norm(points) > problem.limits.peak).any():
                return None
            start = within_budget(problem, points, weights, multiplier)
        if not all(np.isfinite(part).all() for part in start):
            return None
        polished = polish(problem, *start, enough=1e-4 * self.tol)
        if polished.residual > 0.1 * self.tol or polished.weights.min() < 1e-9:
            return None
        proposal = Proposal(
            *within_budget(problem, polished.points, polished.weights, polished.multiplier),
            "Continuous, from a neighbour",
        )
        result = judged(problem, proposal, tol=self.tol, throw=False, started=started)
        return result if result.certificate.gap <= self.tol else None

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


def fill_between(
    channel: Channel,
    values: Array,
    order: Any,
    results: list[CapacityResult | None],
    tol: float,
    cache: dict[Any, Any],
) -> None:
    """Results between solved powers of equally many atoms, a stretch at a time."""
    stretch: list[tuple[float, CapacityResult]] = []
    for place in [*order, None]:
        known = None if place is None else results[place]
        if place is not None and known is None:
            continue
        power = 0.0 if place is None else float(values[place])
        usable = known is not None and 0 < power < np.inf and known.multiplier > 1e-9
        same = bool(
            known is not None
            and usable
            and (not stretch or len(stretch[-1][1].input) == len(known.input))
            and (not stretch or stretch[-1][0] < power <= 8.0 * stretch[0][0])
        )
        if not same and len(stretch) > 1:
            low, high = stretch[0][0], stretch[-1][0]
            inner = [i for i in order if results[i] is None and low < values[i] < high]
            if inner:
                _propose(channel, stretch, values, inner, results, tol, cache)
        if not same:
            stretch = stretch[-1:] if known is not None else []
            if stretch and known is not None and len(stretch[0][1].input) != len(known.input):
                stretch = []
        if known is not None and usable and (not stretch or power > stretch[-1][0]):
            stretch.append((power, known))


def _propose(
    channel: Channel,
    stretch: list[tuple[float, CapacityResult]],
    values: Array,
    inner: list[Any],
    results: list[CapacityResult | None],
    tol: float,
    cache: dict[Any, Any],
) -> None:
    """Judge the proposals for the powers inside a stretch; keep those that are certified."""
    for index, proposal in zip(inner, between(channel, stretch, values[inner])):
        if proposal is None:
            continue
        problem = Problem(channel, Power(float(values[index])), cache=cache)
        result = judged(problem, proposal, tol=tol, throw=False, started=perf_counter())
        if result.certificate.gap <= tol:
            results[index] = result
