"""Prop. 3.2: two symmetric atoms need only the median."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from channelcode.measures import DiscreteMeasure, Measure
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.solvers.line import Line


def symmetric_radius(target: Measure) -> float | None:
    """t if the target is B_t, half its mass at each of -t and t; None otherwise."""
    if not isinstance(target, DiscreteMeasure) or target.dim != 1 or len(target) != 2:
        return None
    left, right = target.atoms
    even = target.weights[0] == target.weights[1]
    return float(abs(right)) if even and left == -right else None


class Median:
    """Prop. 3.2 as a solver: a discrete law on the line against B_t.

    `W2^2(p, B_t) = E L^2 - 2 t E|L - med| + t^2`: the median is the boundary of the two cells, so
    the potentials are -t med and t med. `stats.details["median"]` is the median.
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not problem.is_discrete or symmetric_radius(problem.target) is None:
            raise refuse(self)
        points = problem.points
        order = np.argsort(points.source[:, 0], kind="stable")
        x, below = points.source[order, 0], np.cumsum(points.masses[order])
        median = float(x[min(int(np.searchsorted(below, 0.5)), len(x) - 1)])
        given = median * points.unit + float(np.atleast_1d(problem.source.mean)[0])
        return replace(
            Line().propose(problem, tol=tol),
            method="line, Prop. 3.2",
            potential=median * points.atoms[:, 0],
            details={"median": given},
        )
