"""Samples in R^k to few atoms: the semi-dual by Newton's method, finished exactly."""

from __future__ import annotations

import numpy as np

from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.solvers.assignment import assign
from channelcode.transport.solvers.line import Line


class SemiDual:
    """Two discrete laws, one of them with few atoms: Newton on the semi-dual and an exact finish.

    The cells' masses come within a few points of the weights by Newton's method with an exact
    quantile step for starved cells; shortest paths between the cells then move the last points, so
    that the plan is optimal and primal equals dual to rounding (theory, section 3).
    """

    MOST_ATOMS = 40  # a move costs m^2 and a start m^3: beyond, network simplex comes first

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not problem.is_discrete:
            raise refuse(self)
        points = problem.points
        if len(points.weights) == 1:
            return Line().propose(problem, tol=tol)
        scores = np.ascontiguousarray(points.atoms @ points.source.T)
        solved = assign(scores[None], points.masses, points.weights)
        return Proposal(
            "samples, semi-dual Newton and shortest paths",
            potential=solved.v[0],
            plan=solved.plan(points.masses),
            exhausted=bool(solved.primal[0] == -np.inf),
        )
