"""Two discrete laws in whole numbers: shortest paths between the cells, without any rounding."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from channelcode._validation import Array
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.solvers.line import Line
from channelcode.transport.solvers.semidual import SemiDual


class ExactFlow:
    """The plan of two discrete laws by exact integers, for masses of very different sizes.

    Coordinates and masses are doubles, so scores and masses are whole numbers in a small enough
    unit. Beside a far atom of hardly any mass the rounding of doubles decides which point it takes
    and by which way mass moves; here nothing is rounded but the end. It begins where `SemiDual`
    ends, and takes some hundred times as long: seconds at its limit.
    """

    MOST_SCORES = 1 << 19  # points times atoms: each is a Python integer, some 50 bytes

    def fits(self, problem: Problem) -> bool:
        """Whether the table of scores is small enough."""
        points = problem.points
        return len(points.masses) * len(points.weights) <= self.MOST_SCORES

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not problem.is_discrete or not self.fits(problem):
            raise refuse(self)
        points = problem.points
        if len(points.weights) == 1:
            return Line().propose(problem, tol=tol)
        begun = SemiDual().propose(problem, tol=tol)
        source, grain = whole_numbers(points.source)
        atoms, unit = whole_numbers(points.atoms)
        masses, _ = whole_numbers(points.masses)
        weights, _ = whole_numbers(points.weights)
        given, wanted = int(masses.sum()), int(weights.sum())
        level = np.asarray(begun.potential, dtype=float)
        scores = source @ atoms.T
        flow = Flow.begun(scores, masses * wanted, weights * given, level, grain * unit)
        steps, left = flow.settle()
        top = flow.v[int(np.argmax(points.weights))]
        row, column = np.nonzero(flow.held)
        mass = [flow.held[i, j] / (given * wanted) for i, j in zip(row, column, strict=True)]
        return Proposal(
            "discrete, shortest paths in whole numbers",
            potential=np.array([(v - top) / (grain * unit) for v in flow.v]),
            plan=(row, column, np.array(mass)),
            steps=steps,
            exhausted=left,
        )


def whole_numbers(values: Array) -> tuple[np.ndarray, int]:
    """Doubles as Python integers in one common unit, exactly, and how many units make one."""
    ratios = [value.as_integer_ratio() for value in values.ravel().tolist()]
    unit = max(below for _, below in ratios)
    out = np.empty(values.size, dtype=object)
    out[:] = [above * (unit // below) for above, below in ratios]
    return out.reshape(values.shape), unit


@dataclass
class Flow:
    """Masses `held (n, m)` of points in cells, best for their own sums, and potentials `v (m,)`.

    `scores (n, m)`, the points' `masses (n,)` and the `excess (m,)` of the cells; all are Python
    integers.
    """

    scores: np.ndarray
    held: np.ndarray
    excess: np.ndarray
    v: np.ndarray

    @classmethod
    def begun(
        cls, scores: np.ndarray, masses: np.ndarray, weights: np.ndarray, level: Array, unit: int
    ) -> Flow:
        """Each point in its best cell for potentials `(m,)`, of which `unit` make one."""
        n, m = scores.shape
        ratios = [value.as_integer_ratio() for value in level.tolist()]
        v = np.empty(m, dtype=object)
        v[:] = [above * unit // below for above, below in ratios]
        best = np.argmax(scores - v, axis=1)
        held = np.zeros((n, m), dtype=object)
        held[np.arange(n), best] = masses
        return cls(scores, held, held.sum(axis=0) - weights, v)

    def settle(self) -> tuple[int, bool]:
        """Move mass along shortest paths until no cell has an excess; steps, and whether one has.

        A path keeps a best assignment best (theory, section 3, on semi-discrete transport): the
        end is the best plan.
        """
        n, m = self.scores.shape
        least: list[list[int | None]] = [[None] * m for _ in range(m)]
        mover = np.zeros((m, m), dtype=np.int64)
        stale = set(range(m))
        for step in range(64 * (n + m)):
            if not self.excess.any():
                return step, False
            for j in stale:
                here = np.flatnonzero(self.held[:, j])
                if len(here):
                    price = self.scores[here, j, None] - self.scores[here]
                    mover[j] = here[np.argmin(price, axis=0)]
                    least[j] = list(price.min(axis=0))
                else:
                    least[j] = [None] * m
            stale = self._move(self._search(least), mover)
        return 64 * (n + m), True

    def _search(self, least: list[list[int | None]]) -> list[int]:
        """The cells from one with too much to the nearest that lacks mass; v is lowered to suit.

        One cell at a time: the paths are short then, and few cells are looked at.
        """
        start = int(np.flatnonzero(self.excess > 0)[0])
        v: list[int] = self.v.tolist()
        lacks: list[bool] = (self.excess < 0).tolist()
        distance: dict[int, int] = {start: 0}
        parent: dict[int, int] = {}
        done: dict[int, int] = {}
        queue = [(0, start)]
        while True:
            far, j = heappop(queue)
            if j in done:
                continue
            done[j] = far
            if lacks[j]:
                break
            offset = far - v[j]
            for k, price in enumerate(least[j]):
                if price is None or k in done:
                    continue
                longer = offset + price + v[k]
                if k not in distance or longer < distance[k]:
                    distance[k] = longer
                    parent[k] = j
                    heappush(queue, (longer, k))
        # Those looked at and nearer go down by less than the others: relative to these, up.
        for k, near in done.items():
            self.v[k] += far - near
        path = [j]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        return path[::-1]

    def _move(self, path: list[int], mover: np.ndarray) -> set[int]:
        """As much as a path of cells takes; the cells that have other points now."""
        edges = [(int(mover[j, k]), j, k) for j, k in pairwise(path)]
        amount = min(self.excess[path[0]], -self.excess[path[-1]])
        amount = min(amount, *(self.held[i, j] for i, j, _ in edges))
        for i, j, k in edges:
            self.held[i, j] -= amount
            self.held[i, k] += amount
        self.excess[path[0]] -= amount
        self.excess[path[-1]] += amount
        return set(path)
