"""Exact plans from weighted points to few atoms, for a pool of score tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

GAP_TOLERANCE = 3e-13  # of the scores' scale: primal and dual agree to rounding
RUNGS = 3  # attempts, each with more points that may move


class Assignment(NamedTuple):
    """The largest correlations of a pool, `primal <= max E<X,T> <= dual`, and how they are reached.

    Where the two are not equal to rounding (`closed`), the plan or the potentials are not best.
    """

    primal: Array  # (n,)
    dual: Array  # (n,)
    closed: np.ndarray  # (n,)
    v: Array  # (n, m)
    cells: np.ndarray  # (n, s)
    entries: np.ndarray  # (n, r, 2), points that may have moved and where they went
    amount: Array  # (n, r), how much of them

    def plan(self, masses: Array, candidate: int = 0) -> tuple[np.ndarray, np.ndarray, Array]:
        """Points, atoms and masses of a candidate's plan."""
        count = 1 + self.entries[candidate, 0, 0]
        moved = self.entries[candidate, 1:count]
        still = np.ones(len(masses), dtype=bool)
        still[moved[:, 0]] = False
        points = np.concatenate((np.flatnonzero(still), moved[:, 0]))
        atoms = np.concatenate((self.cells[candidate, still], moved[:, 1]))
        return points, atoms, np.concatenate((masses[still], self.amount[candidate, 1:count]))


def assign(scores: Array, masses: Array, weights: Array) -> Assignment:
    """max E<X,T> over couplings, for one candidate's `scores (1, m, s)` with the plan.

    `scores[0, j, i]` is <x_i, y_j>, `masses (s,)` and `weights (m,)` are those of i and j.
    """
    state = State.room(*scores.shape)
    solved = attempt(scores, masses, weights, state, rung=0)
    for rung in range(1, RUNGS):
        if solved.closed.all():
            break
        solved = attempt(scores, masses, weights, state, rung=rung)
    return solved


def attempt(scores: Array, masses: Array, weights: Array, state: State, *, rung: int) -> Assignment:
    """The largest correlations for `scores (n, m, s)`, m > 1; some may be left open.

    Newton's method on the semi-dual first, then shortest paths that move only points near the
    edges of the cells; bounds over all points judge. On the next `rung` more points may
    move, on the last all. `state` is room for at least n candidates.
    """
    from channelcode._kernels.transport.flow import judge_samples, settle_pool
    from channelcode._kernels.transport.semidual import (
        FIRST_POINTS,
        approach_pool,
        bits_for,
        start_pool,
    )

    n, m, size = scores.shape
    if n < len(state.v):
        state = state.first(n)
    stride = max(1, size // (FIRST_POINTS * m))
    bits, last = bits_for(m), rung == RUNGS - 1
    v, filled, near, near_cell, excess_gap, cells, scale, reach, entries, amount, primal, dual = (
        state
    )
    start_pool(scores, stride, bits, v, reach, scale)
    moving = (v, filled, near, near_cell, excess_gap)
    approach_pool(scores, masses, weights, stride, bits, last, scale, reach, *moving, cells)
    later, margin = _rounding(masses, weights), 0.0 if rung == 0 else np.inf
    settle_pool(scores, masses, weights, later, margin, *moving, entries, amount)
    judge_samples(scores, masses, weights, v, cells, entries, amount, primal, dual)
    closed = dual - primal <= GAP_TOLERANCE * scale
    return Assignment(primal, dual, closed, v, cells, entries, amount)


class State(NamedTuple):
    """What Newton's method leaves to the shortest paths, and these to the judge."""

    v: Array
    filled: Array
    near: np.ndarray
    near_cell: np.ndarray
    excess_gap: Array
    cells: np.ndarray
    scale: Array
    reach: Array
    entries: np.ndarray
    amount: Array
    primal: Array
    dual: Array

    @classmethod
    def room(cls, n: int, m: int, size: int) -> State:
        """Empty arrays for n candidates, m atoms and samples of a given size."""
        from channelcode._kernels.transport.semidual import bits_for

        moves = size + 64 * m + 64
        return cls(
            v=np.empty((n, m)),
            filled=np.empty((n, m)),
            near=np.empty((n, 1 + size), dtype=np.int64),
            near_cell=np.empty((n, size), dtype=np.int64),
            excess_gap=np.empty((n, size)),
            cells=np.empty((n, size), dtype=np.int64),
            scale=np.empty(n),
            reach=np.empty((n, m << bits_for(m))),
            entries=np.empty((n, moves, 2), dtype=np.int64),
            amount=np.empty((n, moves)),
            primal=np.empty(n),
            dual=np.empty(n),
        )

    def first(self, n: int) -> State:
        """Room for n candidates, part of this one."""
        return State(*(array[:n] for array in self))


def _rounding(masses: Array, weights: Array) -> Array:
    """The weights rounded to whole points, less the weights; NaN for unequal masses."""
    if not (masses == masses[0]).all():
        return np.full(len(weights), np.nan)
    rounding = np.round(np.cumsum(weights) * len(masses))
    rounding[1:] -= rounding[:-1].copy()
    return rounding / len(masses) - weights
