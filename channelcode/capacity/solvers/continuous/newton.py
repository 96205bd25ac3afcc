"""Newton's method on (atoms, weights, multiplier): the last digits of a capacity.

The unknowns satisfy, with q = sum_j w_j W_j and F the KKT function,

    F'(l_j) = 0,   F(l_j) = c,   sum_j w_j = 1,   sum_j w_j b(l_j) = P.

Atoms on the peak move along its sphere only; without an active budget s stays zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import Curve, Local, curve, local
from channelcode.capacity.law_value import divergence
from channelcode.capacity.problem import Problem

ON_PEAK = 1e-9  # atoms this close to the peak, relatively, and pushing outwards lie on it


class Polished(NamedTuple):
    """Atoms `(m,)` or `(m, k)`, weights, multiplier, and how far KKT is from holding (nats).

    `concave` tells whether every atom is a local maximum of F, to second order.
    """

    points: Array
    weights: Array
    multiplier: float
    residual: float
    concave: bool


def polish(
    problem: Problem,
    points: Array,
    weights: Array,
    multiplier: float,
    *,
    enough: float = 1e-15,
    max_steps: int = 30,
) -> Polished:
    """Newton steps from a good start; returns the best iterate by its residual.

    The residual is max_j F(l_j) - I plus the gain that F' promises at each atom; steps end when it
    is `enough` (nats).
    """
    shape = points.shape
    state = _State(problem, points.reshape(len(points), -1), weights, multiplier)
    best, stalls = state, 0
    for _ in range(max_steps):
        following = state.step()
        if following is None:
            break
        state = following
        stalls = 0 if state.residual < 0.5 * best.residual else stalls + 1
        if state.residual < best.residual:
            best = state
        if best.residual < enough or stalls > 5:
            break
    concave = all(not b.size or bool((b.diagonal() <= 1e-9).all()) for b in best.curvature)
    points = best.points.reshape(-1, *shape[1:])
    return Polished(points, best.weights, best.multiplier, best.residual, concave)


class _State:
    """One iterate, with its local values."""

    def __init__(self, problem: Problem, points: Array, weights: Array, multiplier: float) -> None:
        self.problem, self.points, self.weights = problem, points, weights
        self.multiplier = multiplier
        self.limited = problem.limits.cost is not None and multiplier > 0
        line = problem.channel.dim == 1
        self.at: Local = local(problem, points[:, 0] if line else points)
        self.output: Array = weights @ self.at.prob
        self.output = self.output / self.output.sum()
        budget = problem.limits.budget if self.limited else 0.0
        self.curve: Curve = curve(self.at, self.output, multiplier, budget)
        self.bases, self.curvature = self._bases()
        self.residual = self._residual()

    def _bases(self) -> tuple[list[Array], list[Array]]:
        """Directions in which each atom may move, and the Hessian of F along them."""
        peak = self.problem.limits.peak
        if peak == np.inf:
            return [np.eye(self.points.shape[1])] * len(self.points), list(self.curve.hessian)
        bases, curvature = [], []
        for point, gradient, hessian in zip(self.points, self.curve.gradient, self.curve.hessian):
            radius = float(np.linalg.norm(point))
            basis = np.eye(len(point))
            if radius >= peak * (1.0 - ON_PEAK) and radius > 0 and gradient @ point > 0:
                normal = point / radius
                basis = np.linalg.svd(normal[None, :])[2][1:].T
                hessian = hessian - np.eye(len(point)) * float(gradient @ normal) / radius
            bases.append(basis)
            curvature.append(basis.T @ hessian @ basis)
        return bases, curvature

    def _residual(self) -> float:
        used = self.weights > 0
        value = float(self.weights[used] @ divergence(self.at.log_prob, self.output)[used])
        gain = 0.0
        for basis, bend, gradient in zip(self.bases, self.curvature, self.curve.gradient):
            slope = basis.T @ gradient
            if slope.size:
                gain = max(gain, float(slope @ slope) / max(float(np.abs(bend).max()), 1e-300))
        spent = 0.0
        if self.limited:
            spent = self.multiplier * abs(
                float(self.weights @ self.at.cost) - self.problem.limits.budget
            )
        return float(self.curve.value.max()) - value + gain + spent

    @np.errstate(all="ignore")
    def step(self) -> _State | None:
        """The next iterate, shortened so that weights stay positive; None if there is none."""
        at, problem, weights = self.at, self.problem, self.weights
        count, sizes = len(weights), [basis.shape[1] for basis in self.bases]
        moves, ends = sum(sizes), np.cumsum(sizes)
        starts = ends - sizes
        size = moves + count + (2 if self.limited else 1)
        matrix, right = np.zeros((size, size)), np.zeros(size)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = np.where(self.output > 0, 1.0 / self.output, 0.0)
        slopes = np.zeros((moves, at.prob.shape[1]))  # dW_j along each allowed direction
        for j, basis in enumerate(self.bases):
            slopes[starts[j] : ends[j]] = basis.T @ at.first[j].T
        owner = np.repeat(weights, sizes)
        matrix[:moves, :moves] = -(slopes * inverse) @ slopes.T * owner
        matrix[:moves, moves : moves + count] = -(slopes * inverse) @ at.prob.T
        rows = slice(moves, moves + count)
        matrix[rows, :moves] = -(at.prob * inverse) @ slopes.T * owner
        matrix[rows, rows] = -(at.prob * inverse) @ at.prob.T
        level = float(weights @ self.curve.value)
        for j, basis in enumerate(self.bases):
            place = slice(starts[j], ends[j])
            matrix[place, place] += self.curvature[j]
            matrix[moves + j, place] += basis.T @ self.curve.gradient[j]
            right[place] = -(basis.T @ self.curve.gradient[j])
            if self.limited:
                priced = basis.T @ at.cost_first[j]
                matrix[place, -2] = -priced
                matrix[-2, place] = weights[j] * priced
        matrix[rows, -1] = -1.0
        right[rows] = level - self.curve.value
        matrix[-1, rows] = 1.0
        right[-1] = 1.0 - weights.sum()
        if self.limited:
            matrix[rows, -2] = -(at.cost - problem.limits.budget)
            matrix[-2, rows] = at.cost - problem.limits.budget
            right[-2] = -float(weights @ (at.cost - problem.limits.budget))
        change = _balanced_solve(matrix, right)
        if change is None:
            return None
        return self._moved(change, starts, ends, moves, count)

    def _moved(
        self, change: Array, starts: Array, ends: Array, moves: int, count: int
    ) -> _State | None:
        fraction = 1.0
        masses = change[moves : moves + count]
        falling = masses < 0
        if falling.any():
            fraction = min(fraction, 0.9 * float((-self.weights[falling] / masses[falling]).min()))
        if self.limited and change[-2] < 0:
            fraction = min(fraction, -0.9 * self.multiplier / change[-2])
        shifts = np.zeros_like(self.points)
        for j, basis in enumerate(self.bases):
            shifts[j] = basis @ change[starts[j] : ends[j]]
        longest = np.linalg.norm(shifts, axis=1)
        allowed = 0.3 * np.maximum(np.linalg.norm(self.points, axis=1), 0.3)
        if (longest > allowed).any():
            fraction = min(fraction, float((allowed / np.maximum(longest, 1e-300)).min()))
        if not np.isfinite(fraction) or fraction < 1e-6:
            return None
        points = self.points + fraction * shifts
        peak = self.problem.limits.peak
        if peak < np.inf:
            radii = np.linalg.norm(points, axis=1)
            outside = radii > peak
            points[outside] *= (peak / radii[outside])[:, None]
        weights = np.maximum(self.weights + fraction * masses, 0.0)
        multiplier = self.multiplier + (fraction * float(change[-2]) if self.limited else 0.0)
        return _State(self.problem, points, weights / weights.sum(), multiplier)


def _balanced_solve(matrix: Array, right: Array) -> Array | None:
    """Solve after scaling rows and columns; by least squares when the matrix is singular."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rows = np.abs(matrix).max(axis=1)
        rows = np.where(rows > 0, 1.0 / rows, 1.0)
        scaled = matrix * rows[:, None]
        columns = np.abs(scaled).max(axis=0)
        columns = np.where(columns > 0, 1.0 / columns, 1.0)
        scaled = scaled * columns
    if not (np.isfinite(scaled).all() and np.isfinite(right).all()):
        return None
    try:
        answer = np.linalg.lstsq(scaled, right * rows, rcond=1e-13)[0]
    except np.linalg.LinAlgError:
        return None
    return np.asarray(answer * columns, dtype=np.float64)
