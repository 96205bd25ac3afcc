"""Items in small groups whose distances from each other are bounded."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array

ROUNDING = 1e-12  # relatively: a bound on distances has room for their rounding


@dataclass(frozen=True)
class Leaves:
    """Groups of points z `(n, r)` with a number m `(n,)` each; group g is `members[g]`.

    `low`, `high` `(L, r)` are its box along the principal axes of z, `centre`, `radius` its ball,
    `least`, `most` its range of m.
    """

    points: Array
    values: Array
    members: list[NDArray[np.intp]]
    low: Array
    high: Array
    centre: Array
    radius: Array
    least: Array
    most: Array

    first: NDArray[np.intp]  # of a leaf that is a group: its first leaf, and one past the last

    @classmethod
    def of(cls, points: Array, values: Array, size: int) -> Leaves:
        """Split at medians of the widest coordinate until no leaf has more than `size` items."""
        turn = np.linalg.eigh(points.T @ points)[1]  # boxes are tight along principal axes
        points = points @ turn
        table = np.column_stack([points, values])
        members: list[NDArray[np.intp]] = []
        stack = [np.arange(len(points))]
        while stack:
            rows = stack.pop()
            if len(rows) <= size:
                members.append(rows)
                continue
            part = table[rows]
            widest = int(np.argmax(np.ptp(part, axis=0)))
            half = len(rows) // 2
            order = np.argpartition(part[:, widest], half)
            stack += [rows[order[:half]], rows[order[half:]]]
        return cls._measured(points, values, members, np.arange(len(members) + 1))

    def grouped(self, count: int) -> Leaves:
        """Groups of `count` neighbouring leaves; leaves next to each other share a split."""
        first = np.append(np.arange(0, len(self), count), len(self))
        members = [
            np.concatenate(self.members[start:stop]) for start, stop in itertools.pairwise(first)
        ]
        return self._measured(self.points, self.values, members, first)

    @classmethod
    def _measured(
        cls,
        points: Array,
        values: Array,
        members: list[NDArray[np.intp]],
        first: NDArray[np.intp],
    ) -> Leaves:
        order = np.concatenate(members)
        starts = np.cumsum([0, *(len(rows) for rows in members[:-1])])
        inner, numbers = points[order], values[order]
        low, high = np.minimum.reduceat(inner, starts), np.maximum.reduceat(inner, starts)
        centre = 0.5 * (low + high)
        sizes = np.array([len(rows) for rows in members])
        away = np.linalg.norm(inner - np.repeat(centre, sizes, axis=0), axis=1)
        return cls(
            points,
            values,
            members,
            low,
            high,
            centre,
            np.maximum.reduceat(away, starts),
            np.minimum.reduceat(numbers, starts),
            np.maximum.reduceat(numbers, starts),
            first,
        )

    def inside(
        self, one: NDArray[np.intp], other: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The pairs of leaves inside pairs of groups, each once."""
        parts = []
        for a, b in zip(one.tolist(), other.tolist(), strict=True):
            left = np.arange(int(self.first[a]), int(self.first[a + 1]))
            right = np.arange(int(self.first[b]), int(self.first[b + 1]))
            rows, columns = np.repeat(left, len(right)), np.tile(right, len(left))
            keep = rows <= columns if a == b else np.ones(len(rows), dtype=bool)
            parts.append((rows[keep], columns[keep]))
        if not parts:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        left, right = zip(*parts, strict=True)
        return np.concatenate(left), np.concatenate(right)

    def __len__(self) -> int:
        return len(self.members)

    def apart(self, one: NDArray[np.intp], other: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """For pairs of leaves: |m_i - m_j| at least, |z_i - z_j| at least and at most, `(k,)`."""
        gap = np.maximum(self.least[other] - self.most[one], self.least[one] - self.most[other])
        near = np.maximum(self.low[other] - self.high[one], self.low[one] - self.high[other])
        far = np.maximum(self.high[other] - self.low[one], self.high[one] - self.low[other])
        between = np.linalg.norm(self.centre[other] - self.centre[one], axis=1)
        reach = self.radius[other] + self.radius[one]
        room = ROUNDING * (between + reach)
        low = np.maximum(np.linalg.norm(np.maximum(near, 0.0), axis=1), between - reach) - room
        high = np.minimum(np.linalg.norm(far, axis=1), between + reach) + room
        return np.maximum(gap, 0.0), np.maximum(low, 0.0), high
