"""The exchange's view of the real line: where to begin and where KKT fails."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import check_budget, near_valleys, valleys
from channelcode.capacity.search.grid import BLACK_FINE, BLACK_WIDE, landmarks, probes
from channelcode.capacity.search.line import Probes, joined
from channelcode.capacity.search.reach import filled, reach
from channelcode.capacity.solvers.continuous.maxima import maxima

FINE, WIDE = 801, 400
TINY = 1e-300  # a unit that may be divided by
MOST_TURNS = 16  # of each probability of a black box that begin as inputs


class LineSearch:
    """First inputs and largest violations on the line, for answers good to `tol` nats.

    `closely` looks at the probes of the certificate of a black box, and `known` inputs join first.
    """

    def __init__(
        self, problem: Problem, tol: float = 1e-9, *, closely: bool = False, known: Any = ()
    ) -> None:
        check_budget(problem)
        self.fine, self.wide = (BLACK_FINE, BLACK_WIDE) if closely else (FINE, WIDE)
        self.closely = closely
        self.known = np.asarray(known, dtype=np.float64)
        self.problem, self.tol = problem, tol
        self.tails = problem.tails
        self.width = 0.08
        self._gathers: Array | None = None
        self._centres: Array | None = None

    def first_inputs(self) -> Array:
        """A few hundred inputs: dense near zero and at landmarks, spread geometrically elsewhere,
        and the turning points of a black box."""
        problem = self.problem
        limit = problem.limits
        root = float(np.sqrt(min(limit.budget, 1e12))) if limit.is_power else 1.0
        radius = 40.0 * max(1.0, root) if limit.is_power else 1e4
        marks = landmarks(problem, step=0.5)
        radius = max(radius, 4.0 * float(np.abs(marks[np.abs(marks) < 1e15]).max(initial=0.0)))
        radius = float(min(limit.peak, radius))
        inner = min(max(8.0, 4.0 * min(root, 1e3)), radius)
        unit = max(1e-3 * min(inner, 1.0, max(root, 1e-12)), TINY)
        far = unit * np.sinh(np.linspace(0.0, np.arcsinh(radius / unit), 61)[1:])
        far[-1] = radius
        pieces = [np.linspace(-inner, inner, 101), far, -far, marks[np.abs(marks) <= radius]]
        pieces.append(self.known)
        if self.tails is None:
            pieces.append(_turns(probes(problem, radius, fine=self.fine, wide=self.wide)))
        if problem.has_own_cost:
            pieces.append(near_valleys(problem))
        grid = np.unique(np.concatenate(pieces))
        self._gathers = np.maximum(
            2.0 * np.gradient(grid), 0.05 * min(1.0, root) * np.minimum(1.0, self._scale(grid))
        )
        self._centres = grid
        return grid

    def _scale(self, points: Array) -> Array:
        """On which scale the channel, or the cost, may change near each input."""
        size = 0.1 + np.abs(points)
        if self.problem.has_own_cost:
            centres = valleys(self.problem)
            if len(centres):
                size = np.minimum(size, 1e-6 + np.abs(points[:, None] - centres).min(axis=1))
        if self.tails is None:
            return np.minimum(size, 1.0)
        for centre, width in self.tails.landmarks:
            size = np.minimum(size, width + np.abs(points - centre))
        return size

    def spacing(self, points: Array) -> Array:
        """How near two atoms have to be to count as one."""
        if self._gathers is not None and self._centres is not None:
            return np.interp(points, self._centres, self._gathers)
        near = max(0.5 * self.width, 1e-7) * (1.0 + np.abs(points))
        return np.minimum(near, 0.25 * self._scale(points))

    def violations(
        self, output: Array, multiplier: float, value: float, atoms: Array
    ) -> tuple[Array, float]:
        """Local maxima of F above the value, and by how much the highest is above it."""
        output = filled(output, 0.1 * self.tol)
        radius = reach(self.problem, output, multiplier, value).radius
        even = probes(self.problem, radius, fine=self.fine, wide=self.wide, throughout=self.closely)
        grid = joined(self.problem, even, atoms)
        points, heights = maxima(
            self.problem, grid, output, multiplier, floor=value - 1e-3 * (abs(value) + 1e-9)
        )
        if len(points) == 0:
            return points, 0.0
        return points, float(heights.max() - value)

    def next_inputs(self, inputs: Array, atoms: Array, violators: Array) -> Array:
        """The next inputs: atoms, violators, and a close pair around each."""
        del inputs
        self._gathers = None
        self.width *= 0.25
        centres = np.concatenate([atoms, violators])
        offsets = self.width * self._scale(centres)
        peak = self.problem.limits.peak
        near = np.concatenate([centres - offsets, centres, centres + offsets])
        return np.unique(np.clip(near, -peak, peak))


def _turns(found: Probes) -> Array:
    """Where each probability of a black box turns, the sharpest turns first."""
    chosen: list[Array] = []
    change = np.diff(found.prob, axis=0)
    for y in range(found.prob.shape[1]):
        before, after = change[:-1, y], change[1:, y]
        sharp = np.where(before * after <= 0, np.abs(before) + np.abs(after), 0.0)
        index = np.argsort(-sharp, kind="stable")[:MOST_TURNS]
        chosen.append(found.points[1 + index[sharp[index] > 1e-9]])
    return np.concatenate(chosen)
