"""What every selector shares: best index, ties, exclusion, greedy batches. They live here, once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apm._inputs import as_matrix
from apm.belief import Belief
from apm.encoders import Linear
from apm.posteriors.gaussian import ScalarGaussian
from apm.selectors.batch import condition
from apm.selectors.explanation import Explanation, explain_choice
from channelcode._validation import Array, Seed, integer
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool, ScalarPool

Indices = NDArray[np.intp]

# Two equal rows may differ in the last digits, as a matrix product rounds by position. Scores this
# close are one score: part of the best score, and part of the largest (what rounding can do).
TIE_RTOL = 1e-12
TIE_SPREAD = 4 * float(np.finfo(np.float64).eps)
SMALL = 1 << 16  # entries of a pool that is projected in one piece: half a mebibyte of float64


@dataclass(frozen=True)
class Choice:
    """One selection with what it was made from: `scores[j]` belongs to row `candidates[j]`.

    `laws` are the induced laws of the candidates where the selector computed them, else None.
    """

    indices: Indices
    candidates: Indices
    scores: Array
    laws: Pool | None


class Selector(ABC):
    """A rule that scores candidates under a belief; the highest score is asked first.

    A new selector writes `scores`; choosing, ties (to the lowest index), exclusion of labelled rows
    and greedy batches follow. Selectors keep no state between calls.

    >>> from apm.posteriors import VariationalLogistic
    >>> class Shortest(Selector):
    ...     def scores(self, belief, X, *, rng=None):
    ...         return -np.linalg.norm(X, axis=1)
    >>> Shortest().select(Belief(VariationalLogistic()), [[3.0], [1.0], [2.0]], n=2)
    array([1, 2])
    """

    #: False where the scores cannot change within a batch, so that the best n are the batch.
    adapts: ClassVar[bool] = True
    #: Scores nearer than this are equal: the accuracy of the integrals behind them.
    resolution: ClassVar[float] = 0.0

    @abstractmethod
    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        """The score of every row of X `(n, d)`, shape `(n,)`; higher is better."""

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This selector with what it must remember of the initial pool X (nothing, by default)."""
        return self

    def select(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        n: int = 1,
        exclude: ArrayLike = (),
        rng: Seed = None,
    ) -> Indices:
        """The n rows to label next, in order, shape `(n,)`.

        After each pick the belief's covariance is updated by the expected precision of its label,
        so that a batch spreads out (`apm.selectors.batch`). `exclude` holds indices or a mask.
        """
        matrix, candidates = _checked_pool(belief, X, exclude)
        return self.choose(belief, matrix, candidates, n=n, rng=rng).indices

    def explain(
        self,
        belief: Belief,
        X: ArrayLike,
        index: int,
        *,
        exclude: ArrayLike = (),
        rng: Seed = None,
    ) -> Explanation:
        """Why row `index` was, or was not, the one to ask (see `Explanation`)."""
        matrix, candidates = _checked_pool(belief, X, exclude)
        place = np.flatnonzero(candidates == integer("index", index, least=0))
        if len(place) == 0:
            raise InvalidArgument("index", "must be one of the candidates", index)
        scores, laws = self._rate(belief, matrix, candidates, rng)
        order = ranking(scores, resolution=self.resolution)
        laws = candidate_laws(belief, matrix, candidates) if laws is None else laws
        return explain_choice(self, belief, matrix, candidates, scores, order, int(place[0]), laws)

    def choose(
        self, belief: Belief, X: Any, candidates: Indices, *, n: int = 1, rng: Seed = None
    ) -> Choice:
        """`select` for a clean matrix and the sorted rows that may be asked, with its scores."""
        count = integer("n", n, least=1)
        if count > len(candidates):
            raise InvalidArgument("n", f"must be at most {len(candidates)}, the rows left", n)
        scores, laws = self._rate(belief, X, candidates, rng)
        if count == 1 or not self.adapts:
            places = best(scores, count, resolution=self.resolution)
            return Choice(candidates[places], candidates, scores, laws)
        first, left = scores, np.arange(len(candidates))
        picked: list[int] = []
        while True:
            place = int(best(scores, resolution=self.resolution)[0])
            picked.append(int(left[place]))
            if len(picked) == count:
                break
            left = np.delete(left, place)
            belief = condition(belief, X[candidates[picked[-1]]], rng=rng)
            scores, _ = self._rate(belief, X, candidates[left], rng)
        return Choice(candidates[picked], candidates, first, laws)

    def _rate(
        self, belief: Belief, X: Any, candidates: Indices, rng: Seed
    ) -> tuple[Array, Pool | None]:
        """The scores of the candidates, and their induced laws if they were computed."""
        scores = self._checked(self.scores(belief, X, rng=rng), len(X))
        return (scores if len(candidates) == len(X) else scores[candidates]), None

    def _checked(self, scores: ArrayLike, rows: int) -> Array:
        name = f"{type(self).__name__}.scores"
        values = np.asarray(scores, dtype=np.float64)
        if values.shape != (rows,):
            raise InvalidArgument(name, f"must have shape ({rows},)", f"shape {values.shape}")
        if np.isnan(values.max(initial=-np.inf)):
            where = int(np.argmax(np.isnan(values)))
            raise InvalidArgument(name, "must not be NaN", f"NaN for candidate {where}")
        return values


class PoolSelector(Selector):
    """A selector that needs only the induced laws `belief.push(X)` of the candidates.

    A new one writes `pool_scores`; X is the whole pool, for budgets over it, while `laws` are those
    of the candidates alone.
    """

    @abstractmethod
    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        """The score of every law, `(len(laws),)`; higher is better."""

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        matrix = as_matrix(X, finite=False)  # push finds NaN and infinity
        laws = belief.push(matrix)
        return self._checked(self.pool_scores(belief, matrix, laws, rng=rng), len(laws))

    def _rate(
        self, belief: Belief, X: Any, candidates: Indices, rng: Seed
    ) -> tuple[Array, Pool | None]:
        laws = candidate_laws(belief, X, candidates)
        return self._checked(self.pool_scores(belief, X, laws, rng=rng), len(laws)), laws


def _checked_pool(belief: Belief, X: ArrayLike, exclude: ArrayLike) -> tuple[Any, Indices]:
    """X as a clean matrix with at least one row, and the rows of it that may be asked."""
    if not isinstance(belief, Belief):
        raise InvalidArgument("belief", "must be a Belief, as Belief(posterior)", belief)
    matrix = as_matrix(X)
    if len(matrix) == 0:
        raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
    return matrix, remaining(len(matrix), exclude)


def candidate_laws(belief: Belief, X: Any, candidates: Indices) -> Pool:
    """The induced laws of some rows of a clean matrix: `push`, without its checks if possible."""
    arrays = None
    if isinstance(belief.encoder, Linear):
        posterior = belief.posterior.sized(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            if X.size <= SMALL:
                arrays = posterior.project(X)
            elif isinstance(posterior, ScalarGaussian):
                arrays = _projected(posterior, X)
            if arrays is not None and all(np.isfinite(array.sum()) for array in arrays):
                if len(candidates) != len(X):
                    return posterior.pool(tuple(array[candidates] for array in arrays))
                return _held(*arrays) if X.size > SMALL else posterior.pool(arrays)
    laws = belief.push(X)  # which says what is wrong with inputs out of range
    return laws if len(candidates) == len(laws) else laws[candidates]


def _projected(posterior: ScalarGaussian, X: Any) -> tuple[Array, Array]:
    """Means and variances of a large pool, in pieces that stay in the cache."""
    mean, variance = np.empty(len(X)), np.empty(len(X))
    rows = SMALL * 8 // (X.shape[1] * X.itemsize) + 1
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        mean[part], variance[part] = posterior.project(X[part])
    return mean, variance


def _held(mean: Array, variance: Array) -> ScalarPool:
    """The pool of finite arrays that nobody else holds, without copies."""
    laws = object.__new__(ScalarPool)
    mean.setflags(write=False)
    variance.setflags(write=False)
    laws._set(_mean=mean, _variance=variance)
    return laws


def best(scores: Array, count: int = 1, *, resolution: float = 0.0) -> Indices:
    """The places of the `count` best scores, best first; ties go to the lowest place.

    >>> best(np.array([1.0, 3.0, 3.0]), 2)
    array([1, 2])
    """
    if count > 1:
        return ranking(scores, resolution=resolution)[:count]
    top = float(scores.max())
    if not np.isfinite(top):
        return np.array([int(scores.argmax())])
    return np.array([int((scores >= top - _tie(scores, top, resolution)).argmax())])


def ranking(scores: Array, *, resolution: float = 0.0) -> Indices:
    """All places from the best score to the worst; within a tie from the lowest place up."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    finite = np.isfinite(ordered)
    if not finite.any():
        return order
    tolerance = _tie(scores, float(ordered[finite][0]), resolution)
    with np.errstate(invalid="ignore"):
        steps = np.diff(ordered) < -tolerance
    group = np.concatenate(([0], np.cumsum(steps)))
    return order[np.lexsort((order, group))]


def remaining(rows: int, exclude: ArrayLike) -> Indices:
    """The rows that may be asked: all but the excluded ones (indices, or a mask over the rows)."""
    out = np.asarray(exclude)
    if out.size == 0:
        return np.arange(rows)
    if out.dtype == bool:
        if out.shape != (rows,):
            raise InvalidArgument("exclude", f"must have shape ({rows},)", f"shape {out.shape}")
        return np.flatnonzero(~out)
    if out.dtype.kind not in "iu":
        raise InvalidArgument("exclude", "must hold row indices", f"dtype {out.dtype}")
    if out.min() < 0 or out.max() >= rows:
        raise InvalidArgument("exclude", f"must lie in 0..{rows - 1}", out.tolist())
    keep = np.ones(rows, dtype=bool)
    keep[out] = False
    return np.flatnonzero(keep)


def _tie(scores: Array, top: float, resolution: float) -> float:
    lowest = float(scores.min())
    spread = max(abs(lowest), abs(top)) if np.isfinite(lowest) else abs(top)
    return resolution + TIE_RTOL * abs(top) + TIE_SPREAD * spread
