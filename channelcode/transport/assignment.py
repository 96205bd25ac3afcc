"""Exact plans from weighted points to few atoms, for a pool of score tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

GAP_TOLERANCE = 1e-13  # of the scores' scale: primal and dual agree to rounding
RUNGS = 3  # attempts, each with more points that may move


class Assignment(NamedTuple):
    """The largest correlations of a pool, and the plan of its last candidate.

    `primal` is the value of a plan; where it is not `closed` the potentials `v` do not prove it
    best, or there is none (-inf).
    """

    primal: Array  # (n,)
    closed: np.ndarray  # (n,)
    v: Array  # (n, m)
    cells: np.ndarray  # (s,), of the last candidate's points before the last moves
    entries: np.ndarray  # (e, 2), points that may have moved and where they went
    amount: Array  # (e,), how much of them

    def plan(self, masses: Array) -> tuple[np.ndarray, np.ndarray, Array]:
        """Points, atoms and masses of the last candidate's plan."""
        still = np.ones(len(masses), dtype=bool)
        still[self.entries[:, 0]] = False
        points = np.concatenate((np.flatnonzero(still), self.entries[:, 0]))
        atoms = np.concatenate((self.cells[still], self.entries[:, 1]))
        return points, atoms, np.concatenate((masses[still], self.amount))


def assign(scores: Array, masses: Array, weights: Array) -> Assignment:
    """max E<X,T> over couplings, for one candidate's `scores (1, m, s)` with the plan.

    `scores[0, j, i]` is <x_i, y_j>, `masses (s,)` and `weights (m,)` are those of i and j.
    """
    if len(weights) == 1:
        return _single(scores, masses)
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
    edges of the cells, which bounds over all points judge. On the next `rung` more points may
    move, on the last all. `state` is room for at least n candidates.
    """
    from channelcode._kernels.transport_flow import semidual_pool, settle_pool
    from channelcode._kernels.transport_semidual import FIRST_POINTS, approach_pool, start_pool

    n, m, size = scores.shape
    if n < len(state.v):
        state = state.first(n)
    stride = max(1, size // (FIRST_POINTS * m))
    room = size + 64 * m + 64
    entries, amount = np.empty((room, 2), dtype=np.int64), np.empty(room)
    start_pool(scores, stride, state.v, state.reach, state.scale)
    last = rung == RUNGS - 1
    approach_pool(scores, masses, weights, stride, last, state.scale, state.reach, *state[:7])
    later, margin = _rounding(masses, weights), 0.0 if rung == 0 else np.inf
    v, filled, primal, near, near_cell, excess_gap = state[:6]
    moving = (v, filled, near, near_cell, excess_gap, primal, entries, amount)
    settle_pool(scores, masses, weights, later, margin, *moving)
    semidual_pool(scores, masses, weights, v, state.dual)
    count = 1 + entries[0, 0]
    closed = state.dual - primal <= GAP_TOLERANCE * state.scale
    return Assignment(primal, closed, v, state.last_cells(), entries[1:count], amount[1:count])


class State(NamedTuple):
    """What Newton's method leaves to the shortest paths."""

    v: Array
    filled: Array
    value: Array
    near: np.ndarray
    near_cell: np.ndarray
    excess_gap: Array
    cells: np.ndarray
    scale: Array
    dual: Array
    reach: Array

    @classmethod
    def room(cls, n: int, m: int, size: int) -> State:
        """Empty arrays for n candidates, m atoms and samples of a given size."""
        from channelcode._kernels.transport_semidual import SLOTS

        return cls(
            v=np.empty((n, m)),
            filled=np.empty((n, m)),
            value=np.empty(n),
            near=np.empty((n, 1 + size), dtype=np.int64),
            near_cell=np.empty((n, size), dtype=np.int64),
            excess_gap=np.empty((n, size)),
            cells=np.empty(size, dtype=np.int64),
            scale=np.empty(n),
            dual=np.empty(n),
            reach=np.empty((n, SLOTS * m)),
        )

    def first(self, n: int) -> State:
        """Room for n candidates, part of this one."""
        return State(*(array[:n] for array in self))._replace(cells=self.cells)

    def last_cells(self) -> np.ndarray:
        """The cells of the last candidate's points."""
        cells, near = self.cells.copy(), self.near[-1, 1 : 1 + self.near[-1, 0]]
        cells[near] = self.near_cell[-1, : len(near)]
        return cells


def _rounding(masses: Array, weights: Array) -> Array:
    """The weights rounded to whole points, less the weights; NaN for unequal masses."""
    if not (masses == masses[0]).all():
        return np.full(len(weights), np.nan)
    rounding = np.round(np.cumsum(weights) * len(masses))
    rounding[1:] -= rounding[:-1].copy()
    return rounding / len(masses) - weights


def _single(scores: Array, masses: Array) -> Assignment:
    value = scores[:, 0] @ masses
    cells, entries = np.zeros(len(masses), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    closed = np.ones(len(scores), dtype=bool)
    return Assignment(value, closed, np.zeros((len(scores), 1)), cells, entries, np.zeros(0))
