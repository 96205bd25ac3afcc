"""Prop. 3.2: two symmetric atoms need only the median."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Measure
from channelcode.transport.line import monotone_plan
from channelcode.transport.result import Potentials, TransportResult, sparse_plan
from channelcode.transport.solver import Solver


def symmetric_radius(target: Measure) -> float | None:
    """t if the target is B_t, half its mass at each of -t and t; None otherwise."""
    if not isinstance(target, DiscreteMeasure) or target.dim != 1 or len(target) != 2:
        return None
    left, right = target.atoms
    even = target.weights[0] == target.weights[1]
    return float(abs(right)) if even and left == -right else None


class Median(Solver):
    """Prop. 3.2 as a solver: a discrete law on the line against B_t."""

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return isinstance(mu, DiscreteMeasure) and mu.dim == 1 and symmetric_radius(nu) is not None

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        started = perf_counter()
        if not isinstance(mu, DiscreteMeasure) or not isinstance(nu, DiscreteMeasure):
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        radius = symmetric_radius(nu)
        if radius is None:
            raise InvalidArgument("solver", "must accept the pair of laws", self)
        order = np.argsort(mu.atoms, kind="stable")
        x, a = mu.atoms[order], mu.weights[order]
        median = float(x[min(int(np.searchsorted(np.cumsum(a), 0.5)), len(x) - 1)])
        squared = float(a @ x**2 + radius**2 - 2 * radius * (a @ np.abs(x - median)))
        # The paper's weights: w(-t) = 2 t med, w(t) = -2 t med, potentials of the cost |x - y|^2.
        target = np.sign(nu.points[:, 0]) * (-2 * radius * median)
        source = (x[:, None] - nu.atoms) ** 2 - target
        lower = float(a @ source.min(axis=1) + nu.weights @ target)
        columns = np.argsort(nu.atoms, kind="stable")
        plan = monotone_plan(a, nu.weights[columns])
        cost = (x[plan.row] - nu.atoms[columns][plan.column]) ** 2
        upper = float(plan.mass @ cost)
        potential = np.empty(len(x))
        potential[order] = source.min(axis=1)
        return TransportResult(
            squared=max(squared, 0.0),
            lower=max(min(lower, squared), 0.0),
            upper=max(upper, squared, 0.0),
            plan=sparse_plan(plan.mass, order[plan.row], columns[plan.column], (len(x), 2)),
            potentials=Potentials(potential, target),
            method="line, Prop. 3.2",
            status=Status.OPTIMAL,
            stats=SolveStats("Median", 1, perf_counter() - started, {"median": median}),
        )
