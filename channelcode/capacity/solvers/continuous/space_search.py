"""The exchange's view of R^k: where to begin and where KKT fails."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import check_budget
from channelcode.capacity.search.reach import filled
from channelcode.capacity.search.space import (
    climb,
    climbing_starts,
    distinct,
    gives_numbers,
    named_places,
    spread_directions,
    within_peak,
)


class SpaceSearch:
    """First inputs and largest violations in R^k, by radii times directions."""

    def __init__(
        self, problem: Problem, seed: int, tol: float = 1e-9, *, everywhere: bool = False
    ) -> None:
        check_budget(problem)
        self.problem, self.tol, self.everywhere = problem, tol, everywhere
        dim = problem.channel.dim
        self.directions = spread_directions(dim, seed)
        self.known = np.empty((0, dim))  # inputs that a second look found to break KKT
        self.width = 0.1

    def first_inputs(self) -> Array:
        """Zero, and every direction at radii around the budget's."""
        limit = self.problem.limits
        scale = np.sqrt(limit.budget) if limit.is_power else 2.0
        scale = float(min(max(scale, 1e-6), 1e6, limit.peak))
        radii = scale * np.array([0.3, 0.7, 1.0, 1.4, 2.0, 3.0])
        radii = np.unique(np.concatenate([radii, [0.5, 1.0, 2.0, 4.0, 8.0]]))
        radii = np.append(radii[radii < limit.peak], limit.peak)
        radii = radii[np.isfinite(radii)]
        points = (radii[:, None, None] * self.directions).reshape(-1, self.directions.shape[1])
        named = named_places(self.problem, self.directions)
        points = np.vstack([np.zeros(points.shape[1]), self.known, named, points])
        return points[gives_numbers(self.problem, points)]

    def spacing(self, points: Array) -> Array:
        """How near two atoms have to be to count as one."""
        return self.width * (0.05 + np.linalg.norm(points, axis=1))

    def violations(
        self, output: Array, multiplier: float, value: float, atoms: Array
    ) -> tuple[Array, float]:
        """Local maxima of F above the value, and by how much the highest is above it."""
        output = filled(output, 0.1 * self.tol)
        seeds = np.vstack([atoms, self.known])
        starts = climbing_starts(
            self.problem, self.directions, output, multiplier, value, seeds,
            everywhere=self.everywhere,
        )  # fmt: skip
        points, heights = climb(self.problem, starts, output, multiplier)
        keep = heights > value - 1e-3 * (abs(value) + 1e-9)
        points, heights = points[keep], heights[keep]
        if len(points) == 0:
            return points, 0.0
        order = np.argsort(-heights, kind="stable")
        points, heights = points[order], heights[order]
        chosen = distinct(points, 1e-4)[:200]
        return points[chosen], float(heights[0] - value)

    def next_inputs(self, inputs: Array, atoms: Array, violators: Array) -> Array:
        """The next inputs: atoms, violators, and their like at nearby radii."""
        self.width = max(0.3 * self.width, 1e-5)
        centres = np.vstack([atoms, violators])
        near = np.vstack([centres, centres * (1 - self.width), centres * (1 + self.width)])
        near = within_peak(near, self.problem.limits.peak)
        return near[distinct(near, 1e-9)]
