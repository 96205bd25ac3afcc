"""Samples in R^k to few atoms: the semi-dual by Newton's method, finished exactly."""

from __future__ import annotations

import numpy as np

from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.solvers.assignment import Assignment
from channelcode.transport.solvers.line import Line


class SemiDual:
    """Two discrete laws, one of them with few atoms: Newton on the semi-dual and an exact finish.

    The cells' masses come near the weights by Newton's method; shortest paths between the cells
    then move the last points, so that the plan is optimal and primal equals dual to rounding
    (theory, section 3).
    """

    MOST_ATOMS = 256  # a search costs m^2 and there are some for each atom: beyond, network simplex

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not problem.is_discrete:
            raise refuse(self)
        points = problem.points
        if len(points.weights) == 1:
            return Line().propose(problem, tol=tol)
        scores = np.ascontiguousarray(points.atoms @ points.source.T)
        solved = Assignment(1, points.masses, points.atoms, points.weights)
        solved.solve(scores[None], points.source[None])
        return Proposal(
            "samples, semi-dual Newton and shortest paths",
            potential=solved.v[0],
            plan=solved.plan(),
            exhausted=not solved.closed[0],
        )
