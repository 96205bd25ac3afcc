"""Atoms on a line, in any dimension: quantile functions, sorting, closed forms for Gaussians."""

from __future__ import annotations

import numpy as np

from channelcode.transport.monotone import (
    monotone_plan,
    monotone_potential,
    normal_cuts,
    steps_from,
)
from channelcode.transport.problem import Points, Problem, Proposal, Sketch, refuse

FARTHEST = 40.0  # deviations: beyond, the mass underflows and any finite potential will do


class Line:
    """Exact transport to atoms on one line (two atoms always are), for Gaussian and discrete laws.

    In R^k the coordinate along the atoms decides; what the source does across them is part of every
    coupling's cost.
    """

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if problem.is_discrete and problem.reduced.rank <= 1:
            return _sorted(problem.points)
        if problem.is_semidiscrete and problem.sketch.dim <= 1:
            return _quantiles(problem.sketch)
        raise refuse(self)


def _quantiles(sketch: Sketch) -> Proposal:
    """The potential of <L,T> rises by (y_{j+1} - y_j) z_j from atom to atom."""
    method = "line, Gaussian closed form"
    if sketch.dim == 0:
        return Proposal(method, potential=np.zeros(len(sketch.weights)), steps=1)
    order = np.argsort(sketch.atoms[:, 0], kind="stable")
    atoms, weights = sketch.atoms[order, 0], sketch.weights[order]
    cuts = np.clip(normal_cuts(weights), -FARTHEST, FARTHEST)
    potential = np.empty(len(atoms))
    potential[order] = steps_from(int(np.argmax(weights)), np.diff(atoms) * cuts)
    return Proposal(method, potential=potential, steps=1)


def _sorted(points: Points) -> Proposal:
    direction = along(points)
    x, y = points.source @ direction, points.atoms @ direction
    first, second = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    plan = monotone_plan(points.masses[first], points.weights[second])
    potential = np.empty(len(y))
    heaviest = int(np.argmax(points.weights[second]))
    potential[second] = monotone_potential(x[first], y[second], plan, heaviest)
    entries = first[plan.row], second[plan.column], plan.mass
    return Proposal("line, sorted quantiles", potential=potential, plan=entries, steps=1)


def along(points: Points) -> np.ndarray:
    """A unit vector along the atoms of a target of rank one; the first axis for a single atom."""
    dim = points.atoms.shape[1]
    if dim == 1:
        return np.ones(1)
    longest = points.atoms[np.argmax((points.atoms**2).sum(axis=1))]
    size = np.sqrt(longest @ longest)
    return longest / size if size > 0 else np.eye(dim)[0]
