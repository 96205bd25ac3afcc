"""The exchange's view of the real line: where to begin and where KKT fails."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.line import joined, probes, reach
from channelcode.capacity.solvers.continuous.maxima import maxima
from channelcode.errors import InvalidArgument


class LineSearch:
    """First inputs and largest violations on the line."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        budget = problem.limits.budget if problem.limits.is_power else 1.0
        first = 40.0 * max(1.0, np.sqrt(min(budget, 1e12)))
        if problem.limits.cost is None or not problem.limits.is_power:
            first = 1e4
        self.radius = float(min(problem.limits.peak, first))
        self.grid = probes(problem, self.radius, fine=101, wide=120).points
        self.step = 1e-3

    def first_inputs(self) -> Array:
        """A few hundred inputs, dense near zero, spread geometrically further out."""
        if self.problem.limits.cost is not None:
            cost = self.problem.cost(self.grid)
            if cost.min() > self.problem.limits.budget:
                rule = f"must be at least the least cost found, {cost.min()}"
                raise InvalidArgument("budget", rule, self.problem.limits.budget)
        budget = self.problem.limits.budget if self.problem.limits.is_power else 1.0
        least = 0.05 * min(1.0, float(np.sqrt(budget)))
        self._gathers = np.maximum(2.0 * np.gradient(self.grid), least)
        self._centres = self.grid
        return self.grid

    def spacing(self, points: Array) -> Array:
        """How near two atoms have to be to count as one."""
        if hasattr(self, "_gathers"):
            return np.interp(points, self._centres, self._gathers)
        return self.step * (1.0 + np.abs(points))

    def violations(
        self, output: Array, multiplier: float, value: float, atoms: Array
    ) -> tuple[Array, float]:
        """Local maxima of F above the value, and by how much the highest is above it."""
        radius, _ = reach(self.problem, output, multiplier, value)
        grid = joined(self.problem, probes(self.problem, radius, fine=801, wide=400), atoms)
        points, heights = maxima(
            self.problem, grid, output, multiplier, floor=value - 1e-3 * (abs(value) + 1e-9)
        )
        if len(points) == 0:
            return points, 0.0
        return points, float(heights.max() - value)

    def next_inputs(self, inputs: Array, atoms: Array, violators: Array) -> Array:
        """The next inputs: atoms, violators, and a close pair around each."""
        if hasattr(self, "_gathers"):
            del self._gathers
            self.width = 0.02
        else:
            self.width *= 0.25
        centres = np.concatenate([atoms, violators])
        offsets = self.width * (0.1 + np.abs(centres))
        peak = self.problem.limits.peak
        self.step = max(0.5 * self.width, 1e-7)
        near = np.concatenate([centres - offsets, centres, centres + offsets])
        return np.unique(np.clip(near, -peak, peak))
