"""`nearest`: the best candidates of a pool by bounds and few exact solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array, integer
from channelcode.certificate import Certificate, SolveStats, Status, conclude
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, EmpiricalPool, FullPool, Measure, Pool
from channelcode.transport.pool import checked_pool, judged_pool
from channelcode.transport.pools.lower_bounds import GaussianBounds, SampleBounds
from channelcode.transport.problem import Solver
from channelcode.transport.target import reduce_target

SEEDS = 16  # candidates solved at once, lowest bound first
ROUNDING = 1e-11  # of a candidate's own scale: bounds and solves agree to this


@dataclass(frozen=True)
class Nearest:
    """The k best candidates, best first; ties go to the lowest index.

    `index`, `squared`, `lower` and `upper` have length k (also for k = 1, so `int(result.index[0])`
    is the winner); `solves` counts the candidates whose W2^2 was computed, `pruned` those that a
    bound excluded. `status` is that of the bounds: `BOUND_ONLY` where they are statistical.
    """

    index: np.ndarray
    squared: Array
    lower: Array
    upper: Array
    solves: int
    pruned: int
    status: Status
    stats: SolveStats

    @property
    def gap(self) -> Array:
        """upper - lower of the k best."""
        return self.upper - self.lower


class Found(NamedTuple):
    """The best candidates with their bounds, before they are reported."""

    index: np.ndarray
    squared: Array
    lower: Array
    upper: Array
    solves: int
    method: str


def nearest(
    pool: Pool | Sequence[Measure],
    target: Measure,
    *,
    k: int = 1,
    solver: Solver | None = None,
    tol: float | None = None,
) -> Nearest:
    """The k candidates of a pool with the least W2^2 to the target, as brute force would find them.

    Where W2^2 has a closed form every candidate is computed. Otherwise lower bounds, from cheap to
    tight, exclude what cannot be among the best (theory, section 3: mean and trace, sums over an
    orthonormal basis, a dual potential fitted to the candidates solved so far), and only the rest
    is solved, lowest bound first. `solver` and `tol` are those of `w2`; a solver is asked for each
    candidate in turn.

    >>> from channelcode.measures import DiscreteMeasure, ScalarPool
    >>> pool = ScalarPool([2.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    >>> found = nearest(pool, DiscreteMeasure.symmetric(1.0))
    >>> int(found.index[0]), found.solves
    (1, 3)
    """
    started = perf_counter()
    candidates = checked_pool(pool, target)
    count = integer("k", k, least=1)
    size = len(candidates)
    if count > size:
        raise InvalidArgument("k", f"must be at most the {size} candidates", k)
    found = _find(candidates, target, count, solver, tol)
    widest = float((found.upper - found.lower).max())
    exact = 1e-9 * float(found.upper.max())
    return conclude(
        lambda status: Nearest(
            found.index,
            found.squared,
            found.lower,
            found.upper,
            found.solves,
            size - found.solves,
            status,
            SolveStats(found.method, found.solves, perf_counter() - started),
        ),
        Certificate(float(found.lower[0]), float(found.upper[0])),
        tol=np.inf,
        throw=True,
        best=Status.OPTIMAL if widest <= exact else Status.BOUND_ONLY,
        unit="squared units",
    )


def _find(
    candidates: Pool | list[Measure],
    target: Measure,
    count: int,
    solver: Solver | None,
    tol: float | None,
) -> Found:
    # Where all would be solved at once, bounds exclude nobody, and cost solves of their own.
    if solver is None and isinstance(target, DiscreteMeasure) and len(candidates) > SEEDS:
        if isinstance(candidates, FullPool) and candidates.dim > 1:
            reduced = reduce_target(target, to_gaussian=True)
            if reduced.rank >= 2:
                return search(GaussianBounds(candidates, target, reduced), count, tol)
        if isinstance(candidates, EmpiricalPool):
            reduced = reduce_target(target, to_gaussian=False)
            if reduced.rank >= 2:
                return search(SampleBounds(candidates, target, reduced), count, tol)
    found = judged_pool(candidates, target, solver=solver, tol=tol)
    index = np.argsort(found.squared, kind="stable")[:count]
    squared, lower, upper = found.squared[index], found.lower[index], found.upper[index]
    return Found(index, squared, lower, upper, len(found.squared), "all candidates")


def search(bounds: GaussianBounds | SampleBounds, count: int, tol: float | None) -> Found:
    """Branch and bound, by lower bounds that become sharper and dearer."""
    bound = bounds.lower
    slack = ROUNDING * bounds.scale
    values = np.full((3, len(bound)), np.inf)  # squared, lower, upper
    solved = np.zeros(len(bound), dtype=bool)

    def worst_kept() -> float:
        found = values[0, solved]
        return float(np.partition(found, count - 1)[count - 1]) if len(found) >= count else np.inf

    def solve(index: np.ndarray) -> None:
        values[:, index] = bounds.solve(index, tol)
        solved[index] = True

    def open_candidates(among: np.ndarray) -> np.ndarray:
        return among[~solved[among] & (bound[among] - slack[among] <= worst_kept())]

    def lowest(among: np.ndarray, size: int) -> np.ndarray:
        if len(among) <= size:
            return among
        return among[np.argpartition(bound[among], size - 1)[:size]]

    everyone = np.arange(len(bound))
    solve(lowest(everyone, max(SEEDS, count)))
    alive = open_candidates(everyone)
    for refine in bounds.refinements():
        if len(alive) > SEEDS:
            bound[alive] = np.maximum(bound[alive], refine(alive))
            solve(lowest(alive, SEEDS))
            alive = open_candidates(alive)
    while len(alive):
        solve(lowest(alive, SEEDS))
        alive = open_candidates(alive)
    done = np.flatnonzero(solved)
    index = done[np.argsort(values[0, done], kind="stable")[:count]]
    squared, lower, upper = values[:, index]
    return Found(index, squared, lower, upper, len(done), "bounds from cheap to tight")
