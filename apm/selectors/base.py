"""What every selector shares: choosing, exclusion of labelled rows, greedy batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apm.belief import Belief
from apm.pools.inputs import is_streamed
from apm.pools.tiling import is_tiled
from apm.selectors.batch import condition
from apm.selectors.candidates import candidate_laws
from apm.selectors.explanation import Explanation, Seen, explain_choice
from apm.selectors.ranking import Indices, best, ranking, remaining
from channelcode._validation import Array, Seed, integer
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool, ScalarPool


@dataclass(frozen=True)
class Rating:
    """Scores of candidates, without a constant that they all share: `scores = values + constant`.

    Candidates are compared by `values`; beside a constant as large as a budget of 1e26 their
    differences would be lost. `laws` are the induced laws of the candidates where the selector
    computed them; values nearer than `resolution` are equal.
    """

    values: Array
    laws: Pool | None = None
    constant: float = 0.0
    resolution: float = 0.0

    @property
    def scores(self) -> Array:
        """The scores, `(n,)`."""
        return self.values if self.constant == 0 else self.values + self.constant

    def best(self, count: int, barred: NDArray[np.bool_] | None = None) -> Indices:
        """The places of the best that are not barred, best first; ties go to the lowest place."""
        values = self.values if barred is None else np.where(barred, -np.inf, self.values)
        return best(values, count, resolution=self.resolution)


@dataclass(frozen=True)
class Choice:
    """One selection with what it was made from: `scores[j]` belongs to row `candidates[j]`.

    `laws` are the induced laws of the candidates where the selector computed them, else None.
    `later` has the scores after each further pick of a batch that adapts, NaN for what was picked.
    """

    indices: Indices
    candidates: Indices
    rating: Rating
    later: tuple[Array, ...] = ()

    @property
    def scores(self) -> Array:
        """The scores of the candidates, `(n,)`."""
        return self.rating.scores

    @property
    def laws(self) -> Pool | None:
        """The induced laws of the candidates, if the selector computed them."""
        return self.rating.laws

    @property
    def has_laws(self) -> bool:
        """Whether the selector computed the laws of the candidates."""
        return self.rating.laws is not None

    @property
    def largest_power(self) -> float | None:
        """The largest E|L|^2 of the candidates, if their laws were computed."""
        return None if self.laws is None else float(self.laws.second_moment.max())

    def law(self, row: int) -> tuple[float, float] | None:
        """Mean and variance of a candidate's input, where they were computed on the line."""
        laws = self.laws
        if not isinstance(laws, ScalarPool):
            return None
        place = int(self.candidates.searchsorted(row))
        return float(laws.mean[place]), float(laws.variance[place])

    def numbers(self, row: int) -> tuple[float, int | None, float | None, float, float, int]:
        """A candidate's score, the best other row, the lead over it; mean, lowest and number."""
        scores, place = self.scores, int(self.candidates.searchsorted(row))
        chosen = float(scores[place])
        runner_up = margin = None
        count, total, lowest = len(scores), np.add.reduce(scores), np.minimum.reduce(scores)
        if count > 1:
            others = self.rating.values.copy()  # a large constant would hide which is the best
            others[place] = -np.inf
            other = int(others.argmax())
            runner_up = int(self.candidates[other])
            margin = chosen - float(scores[other])
        return chosen, runner_up, margin, float(total / count), float(lowest), count


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
    #: Whether the score of a row follows from that row, the belief and the seed, and from nothing
    #: else that `surveyed` does not fix: such rules score pools that do not fit in memory.
    by_row: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """A rule that writes scores of its own says anew whether it goes by rows."""
        super().__init_subclass__(**options)
        written = {"scores", "pool_scores", "match", "_rate", "probabilities"} & set(vars(cls))
        if written and "by_row" not in vars(cls):
            cls.by_row = False

    @abstractmethod
    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        """The score of every row of X `(n, d)`, shape `(n,)`; higher is better."""

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This selector with what it must remember of the initial pool X (nothing, by default)."""
        return self

    def needs_all_rows(self, belief: Belief) -> str | None:
        """Why the scores need all rows at once, in words; None if they can be made by tiles."""
        return None if self.by_row else f"{type(self).__name__} does not say that it does (by_row)"

    @property
    def looks_twice(self) -> bool:
        """Whether `surveyed` reads the whole pool."""
        return False

    def surveyed(self, belief: Belief, X: Any, is_open: Any, rng: int) -> Selector:
        """This selector with what its scores need of the whole pool X fixed, for this selection.

        `is_open (n,)` says which rows are candidates. By default nothing is needed.
        """
        return self

    def drawn(self, X: Any, rng: int) -> Selector:
        """This selector with what it draws from the whole pool X, for this selection."""
        return self

    def looking(self, belief: Belief, X: Any) -> Any:
        """This selector as it looks at parts of X before it knows the budget; None if it cannot.

        It then has `look`, `rated` and a `power` (`apm.selectors.matching.apm.APM`).
        """
        return None

    def tile_seed(self, rng: int, start: int) -> Seed:
        """The seed for the tile that begins at row `start`: the same for all, by default."""
        return rng

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
        if is_streamed(matrix):
            from apm.selectors.tiled import choose_streamed

            is_open = np.zeros(len(matrix), dtype=bool)
            is_open[candidates] = True
            return choose_streamed(self, belief, matrix, is_open, n=n, rng=rng).indices
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
        is_open = np.zeros(len(matrix), dtype=bool)
        is_open[candidates] = True
        if is_streamed(matrix):
            from apm.selectors.tiled_explanation import explain_streamed

            return explain_streamed(self, belief, matrix, is_open, int(index), rng)
        by_tiles = is_tiled(matrix) and not self.needs_all_rows(belief)
        if by_tiles and belief.forms(matrix) is None:
            from apm.selectors.tiled import frozen
            from apm.selectors.tiled_explanation import explain_by_tiles

            seed = frozen(rng)
            rule = self.surveyed(belief, matrix, is_open, seed)
            return explain_by_tiles(self, rule, belief, matrix, is_open, int(index), seed)
        rating = self._rated(belief, matrix, candidates, rng)
        order = ranking(rating.values, resolution=rating.resolution)
        laws = rating.laws
        laws = candidate_laws(belief, matrix, candidates) if laws is None else laws
        seen = self.seen(belief, matrix, candidates, laws, rating)
        return explain_choice(seen, candidates, rating, order, int(place[0]))

    def seen(self, belief: Belief, X: Any, candidates: Indices, laws: Pool, rating: Rating) -> Seen:
        """What this rule looks at, for `explain`: terms that add up to the scores, and laws."""
        return Seen(belief.channel, laws, {"score": rating.scores})

    def choose(
        self,
        belief: Belief,
        X: Any,
        candidates: Indices,
        *,
        n: int = 1,
        rng: Seed = None,
        among: Indices | None = None,
    ) -> Choice:
        """`select` for a clean matrix and the sorted rows that may be asked, with its scores.

        With `among`, only those of the candidates are picked; budgets are still over all of them.
        """
        count = integer("n", n, least=1)
        barred = None if among is None else ~np.isin(candidates, among)
        free = len(candidates) - (0 if barred is None else int(np.count_nonzero(barred)))
        if count > free:
            raise InvalidArgument("n", f"must be at most {free}, the rows left", n)
        rating = self._rated(belief, X, candidates, rng)
        if count == 1 or not self.adapts:
            return Choice(candidates[rating.best(count, barred)], candidates, rating)
        first, left = rating, np.arange(len(candidates))
        picked: list[int] = []
        later: list[Array] = []
        while True:
            place = int(rating.best(1, None if barred is None else barred[left])[0])
            picked.append(int(left[place]))
            if len(picked) == count:
                break
            left = np.delete(left, place)
            belief = condition(belief, X[candidates[picked[-1]]], rng=rng)
            rating = self._rated(belief, X, candidates[left], rng)
            later.append(np.full(len(candidates), np.nan))
            later[-1][left] = rating.scores
        return Choice(candidates[picked], candidates, first, tuple(later))

    def _rated(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        """The scores of the candidates; of a large pool tile by tile, as of a streamed one."""
        if is_tiled(X):
            from apm.selectors.tiled import tiled_rating

            found = tiled_rating(self, belief, X, candidates, rng)
            if found is not None:
                return found
        return self._rate(belief, X, candidates, rng)

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        """The scores of the candidates, and their induced laws if they were computed."""
        scores = self._checked(self.scores(belief, X, rng=rng), len(X))
        values = scores if len(candidates) == len(X) else scores[candidates]
        return Rating(values, resolution=self._resolution(belief, len(X)))

    def _resolution(self, belief: Belief, rows: int) -> float:
        """How near two scores of so many rows are to be called equal."""
        return self.resolution

    def _checked(self, scores: ArrayLike, rows: int) -> Array:
        name = f"{type(self).__name__}.scores"
        values = np.asarray(scores, dtype=np.float64)
        if values.shape != (rows,):
            raise InvalidArgument(name, f"must have shape ({rows},)", f"shape {values.shape}")
        if rows and isnan(np.maximum.reduce(values)):
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
        matrix = belief.matrix(X, finite=False)  # push finds NaN and infinity
        laws = belief.push(matrix)
        return self._checked(self.pool_scores(belief, matrix, laws, rng=rng), len(laws))

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        laws = candidate_laws(belief, X, candidates)
        values = self._checked(self.pool_scores(belief, X, laws, rng=rng), len(laws))
        return Rating(values, laws, resolution=self._resolution(belief, len(X)))


def _checked_pool(belief: Belief, X: ArrayLike, exclude: ArrayLike) -> tuple[Any, Indices]:
    """X as a clean matrix with at least one row, and the rows of it that may be asked."""
    if not isinstance(belief, Belief):
        raise InvalidArgument("belief", "must be a Belief, as Belief(posterior)", belief)
    matrix = belief.matrix(X)
    if len(matrix) == 0:
        raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
    return matrix, remaining(len(matrix), exclude)
