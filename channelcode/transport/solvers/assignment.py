"""Exact plans from weighted points to few atoms, for a pool of score tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

MOVES = 16  # parts of points for each atom: m - 1 points are split in the end, ties split more


class Plan(NamedTuple):
    """How far the shortest paths came with the last candidate of a pool."""

    near: int  # points that may have moved
    entries: int  # and their parts


class Assignment:
    """The largest correlations of up to n candidates, `primal <= max E<X,T> <= dual`.

    Where the two are not equal to rounding (`closed`), the plan or the potentials are not best.
    The memory, for m atoms and samples of one size, serves every call of `solve`: fresh memory
    costs as much as a solve.
    """

    def __init__(self, n: int, masses: Array, atoms: Array, weights: Array) -> None:
        m, size = len(weights), len(masses)
        room = size + MOVES * m + 64
        self.masses, self.atoms, self.weights = masses, atoms, weights
        self.later = _rounding(masses, weights)
        self.v = np.empty((n, m))
        self.scale = np.empty(n)
        self.bounds = np.empty((n, 2))
        self.met = np.empty(n, dtype=np.int64)
        self.cells = np.empty(size, dtype=np.int64)
        self.near = np.empty(size, dtype=np.int64)
        self.links = np.empty((4, room), dtype=np.int64)
        self.part = np.empty(room)
        self.room = (
            np.empty((2, m * size)),
            np.empty((5, size)),
            np.empty(size, dtype=np.int64),
            np.empty((2, m, m)),
            np.empty((9, m)),
            np.empty((m + 6, m), dtype=np.int64),
        )
        self.last = Plan(0, 0)

    def solve(self, scores: Array, samples: Array) -> None:
        """Newton's method and shortest paths for `scores (n, m, s)`, m > 1.

        `scores[c, j, i]` is <x_i, y_j> for the points of `samples (n, s, k)` and the atoms `(m,
        k)`, all in such units that they are about one.
        """
        from channelcode._kernels.transport.samples.assign import assign_pool
        from channelcode._kernels.transport.samples.semidual import bits_for

        self.start(scores, samples)
        self.last = Plan(
            *assign_pool(
                scores,
                self.masses,
                self.weights,
                self.later,
                bits_for(len(self.weights)),
                self.scale,
                self.v,
                self.bounds,
                self.cells,
                self.near,
                self.links,
                self.part,
                self.met,
                *self.room,
            )
        )

    def start(self, scores: Array, samples: Array) -> None:
        """Potentials to begin with, in `v`: two kernels, so that few atoms compile one only."""
        from channelcode._kernels.transport.samples import start as kernels

        m, dim = self.atoms.shape
        if dim <= kernels.MOST_AXES and m >= kernels.FEWEST_ATOMS:
            kernels.start_by_moments(samples, self.atoms, self.weights, self.v, self.scale)
        else:
            room = self.room[0]  # as long as m and s
            kernels.start_pool(scores, self.weights, self.v, self.scale, room)

    @property
    def primal(self) -> Array:
        """The values of the plans, `(n,)`."""
        return self.bounds[:, 0]

    @property
    def dual(self) -> Array:
        """The values of the potentials `v (n, m)`, `(n,)`."""
        return self.bounds[:, 1]

    @property
    def closed(self) -> np.ndarray:
        """Whether the two are equal but for rounding, `(n,)`."""
        return self.met > 0

    def plan(self) -> tuple[np.ndarray, np.ndarray, Array]:
        """Points, atoms and masses of the last candidate's plan."""
        from channelcode._kernels.transport.samples.flow import CELL, POINT

        near = self.near[: self.last.near]
        used = np.flatnonzero(self.links[CELL, : self.last.entries] >= 0)
        still = np.ones(len(self.masses), dtype=bool)
        still[near] = False
        points = np.concatenate((np.flatnonzero(still), near[self.links[POINT, used]]))
        atoms = np.concatenate((self.cells[still], self.links[CELL, used]))
        return points, atoms, np.concatenate((self.masses[still], self.part[used]))


def _rounding(masses: Array, weights: Array) -> Array:
    """The weights rounded to whole points, less the weights; NaN for unequal masses.

    The largest remainders are rounded up, as many as it takes.
    """
    total = len(masses)
    if not (masses == masses[0]).all():
        return np.full(len(weights), np.nan)
    points = weights * total
    whole = np.floor(points)
    missing = round(total - whole.sum())
    whole[np.argsort(whole - points, kind="stable")[:missing]] += 1
    return whole / total - weights
