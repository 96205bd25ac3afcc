"""`nearest`: the best candidates of a pool by bounds and few exact solves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    EmpiricalPool,
    FullPool,
    Measure,
    Pool,
)
from channelcode.transport.cascade import GaussianCascade, SampleCascade
from channelcode.transport.facade import check_dimension, check_law
from channelcode.transport.pool import as_pool, w2_squared
from channelcode.transport.reduction import reduce_target

SEEDS = 16  # candidates solved at once, lowest bound first
ROUNDING = 1e-11  # of a candidate's own scale: bounds and solves agree to this


@dataclass(frozen=True)
class Nearest:
    """The k best candidates, best first; ties go to the lowest index.

    `index` and `squared` have length k (also for k = 1, so `int(result.index[0])` is the winner);
    `solves` counts the candidates whose W2^2 was computed, `pruned` those that a bound excluded.
    """

    index: np.ndarray
    squared: Array
    solves: int
    pruned: int


def nearest(pool: Pool | Sequence[Measure], target: Measure, *, k: int = 1) -> Nearest:
    """The k candidates of a pool with the least W2^2 to the target, as brute force would find them.

    Where W2^2 has a closed form every candidate is computed. Otherwise lower bounds, from cheap to
    tight, exclude what cannot be among the best (theory, section 3: mean and trace, sums over an
    orthonormal basis, a dual potential fitted to the candidates solved so far), and only the rest
    is solved, lowest bound first.

    >>> from channelcode.measures import DiscreteMeasure, ScalarPool
    >>> pool = ScalarPool([2.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    >>> found = nearest(pool, DiscreteMeasure.symmetric(1.0))
    >>> int(found.index[0]), found.solves
    (1, 3)
    """
    candidates = as_pool(pool)
    check_law("target", target)
    count = integer("k", k, least=1)
    if count > len(candidates):
        raise InvalidArgument("k", f"must be at most the {len(candidates)} candidates", k)
    if isinstance(candidates, Pool):
        check_dimension("target", target, candidates.dim)
    weighted = isinstance(candidates, EmpiricalPool) and not candidates.equally_weighted
    if weighted:
        return _all(w2_squared(candidates, target), count)
    if isinstance(target, DiscreteMeasure) and isinstance(candidates, FullPool | EmpiricalPool):
        reduced = reduce_target(target)
        if reduced.rank >= 2 and isinstance(candidates, FullPool):
            return search(GaussianCascade(candidates, reduced), count)
        if reduced.rank >= 2 and isinstance(candidates, EmpiricalPool):
            return search(SampleCascade(candidates, reduced), count)
    return _all(w2_squared(candidates, target), count)


def _all(squared: Array, count: int) -> Nearest:
    index = np.argsort(squared, kind="stable")[:count]
    return Nearest(index, squared[index], len(squared), 0)


def search(cascade: GaussianCascade | SampleCascade, count: int) -> Nearest:
    """Branch and bound over a cascade of lower bounds."""
    lower = cascade.lower
    slack = ROUNDING * cascade.scale
    squared = np.full(len(lower), np.inf)
    solved = np.zeros(len(lower), dtype=bool)

    def worst_kept() -> float:
        found = squared[solved]
        return float(np.partition(found, count - 1)[count - 1]) if len(found) >= count else np.inf

    def solve(index: np.ndarray) -> None:
        squared[index] = cascade.solve(index)
        solved[index] = True

    def open_candidates(among: np.ndarray) -> np.ndarray:
        return among[~solved[among] & (lower[among] - slack[among] <= worst_kept())]

    def lowest(among: np.ndarray, size: int) -> np.ndarray:
        if len(among) <= size:
            return among
        return among[np.argpartition(lower[among], size - 1)[:size]]

    everyone = np.arange(len(lower))
    solve(lowest(everyone, max(SEEDS, count)))
    alive = open_candidates(everyone)
    refinements: tuple[Callable[[np.ndarray], Array], ...] = cascade.refinements()
    for refine in refinements:
        if len(alive) > SEEDS:
            lower[alive] = np.maximum(lower[alive], refine(alive))
            solve(lowest(alive, SEEDS))
            alive = open_candidates(alive)
    while len(alive):
        solve(lowest(alive, SEEDS))
        alive = open_candidates(alive)
    done = np.flatnonzero(solved)
    index = done[np.argsort(squared[done], kind="stable")[:count]]
    return Nearest(index, squared[index], len(done), len(lower) - len(done))
