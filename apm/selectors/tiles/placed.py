"""Choosing from a pool that lies on a cluster: tiles are scored there, and only leaders come back.

The workers run the code of `tiled` on the tiles they hold. What a pass keeps of neighbouring tiles
is joined in a tree by score and row, to what one pass over all tiles would have kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.pools.placed import folded
from apm.selectors.batch import condition
from apm.selectors.ranking import Indices
from apm.selectors.tiled import SPARE, Best, Leaders, StreamedChoice
from channelcode._validation import Seed
from channelcode.errors import InvalidArgument
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector


@dataclass
class Part(Leaders):
    """What one pass keeps of some tiles; parts of neighbours are joined by `then`.

    `totals` are the sums of the tiles, added up at the end in the order of one pass. `constant` is
    that of the first tile; `mixed` says that another tile has another one.
    """

    totals: list[float] = field(default_factory=list)
    mixed: bool = False

    @classmethod
    def of(cls, start: int, places: Indices, rating: Rating, constant: float | None) -> Part:
        """The scores of one tile, beside a shared constant if one is given."""
        if constant is not None and rating.constant != constant:
            moved = rating.values + (rating.constant - constant)
            rating = replace(rating, values=moved, constant=constant)
        part = cls()
        part.add(start, places, rating)
        part.totals = [part.total]
        return part

    def then(self, later: Part) -> Part:
        """What a pass over the tiles of both keeps; `later` has the later rows."""
        leading = [place for place, value in enumerate(later.values) if value > self.top]
        dropped = later.dropped if later.dropped > self.top else -np.inf
        powers = (self.largest_power, later.largest_power)
        both = sorted(self.two + later.two, key=lambda pair: (-pair[0], pair[1]))
        return Part(
            count=self.count + later.count,
            lowest=min(self.lowest, later.lowest),
            constant=self.constant,
            resolution=max(self.resolution, later.resolution),
            top=max(self.top, later.top),
            largest_power=None if None in powers else max(powers),  # type: ignore[type-var]
            dropped=max(self.dropped, dropped),
            rows=self.rows + [later.rows[place] for place in leading],
            values=self.values + [later.values[place] for place in leading],
            laws=self.laws + [later.laws[place] for place in leading],
            two=both[:2],
            totals=self.totals + later.totals,
            mixed=self.mixed or later.mixed or later.constant != self.constant,
        )

    def summed(self) -> Part:
        """The same with `total`, added up tile by tile."""
        self.total = reduce(lambda total, each: total + each, self.totals, 0.0)
        return self


def joined(parts: list[Part]) -> Part:
    """Parts of neighbours as one."""
    return reduce(Part.then, parts)


@dataclass(frozen=True)
class Scoring:
    """Scores the candidates of a tile: what is sent to the rows."""

    rule: Selector
    belief: Belief
    seed: int
    constant: float | None = None

    def rated(self, start: int, tile: Any, places: Indices) -> Rating:
        """The rating of the candidates at `places`."""
        return self.rule._rate(self.belief, tile, places, self.rule.tile_seed(self.seed, start))

    def __call__(self, start: int, tile: Any, places: Indices) -> Part:
        return Part.of(start, places, self.rated(start, tile, places), self.constant)


def leaders(scoring: Scoring, X: Any, is_open: Any) -> Part:
    """What a pass over all candidates keeps, as one pass in order would have it."""
    found: Part = folded(X, scoring, joined, is_open=is_open, rehearse=True)
    if found.mixed:  # tiles with constants of their own: all beside that of the first, as in a pass
        fixed = replace(scoring, constant=found.constant)
        found = folded(X, fixed, joined, is_open=is_open)
    return found.summed()


def choose_placed(
    selector: Selector, belief: Belief, X: Any, is_open: Any, count: int, seed: int, rng: Seed
) -> StreamedChoice:
    """The rows to label next, of those that `is_open (n,)` allows; one pass for each."""
    if count > 1 and not selector.adapts:
        return _best_rows(selector, belief, X, is_open, count, seed)
    first: Part | None = None
    ready, now, left = selector, belief, is_open
    picked: list[int] = []
    chosen: dict[int, tuple[float, Any]] = {}
    while True:
        rule = selector.surveyed(now, X, left, seed)
        held = leaders(Scoring(rule, now, seed), X, left)
        place = held.best()
        if place is None:
            within = _Within(Scoring(rule, now, seed), held.top - held.tolerance)
            row = folded(X, within, min, is_open=left)
        else:
            row = held.rows[place]
        if first is None:
            first, ready = held, rule
            if place is not None:
                chosen[row] = held.values[place] + held.constant, held.laws[place]
        picked.append(int(row))
        if len(picked) == count:
            break
        left = left.copy()
        left[row] = False
        now = condition(now, X[row], rng=rng)
    missing = [row for row in picked if row not in chosen]
    chosen.update(scores_of(Scoring(ready, belief, seed), X, is_open, missing))
    return StreamedChoice(np.array(picked, dtype=np.intp), first, chosen)


@dataclass(frozen=True)
class _Within:
    """The first row of a tile whose score is high enough; beyond all rows if there is none."""

    scoring: Scoring
    enough: float

    def __call__(self, start: int, tile: Any, places: Indices) -> int:
        values = self.scoring.rated(start, tile, places).values
        found = np.flatnonzero(values >= self.enough)
        return int(start + places[found[0]]) if len(found) else np.iinfo(np.int64).max


@dataclass(frozen=True)
class _ScoresOf:
    """Scores and laws of these rows, those in a tile."""

    scoring: Scoring
    rows: tuple[int, ...]

    def __call__(self, start: int, tile: Any, places: Indices) -> dict[int, tuple[float, Any]]:
        rating = self.scoring.rated(start, tile, places)
        laws, scores, found = rating.laws, rating.scores, {}
        for row in self.rows:
            if not start <= row < start + len(tile):
                continue
            place, law = int(np.searchsorted(places, row - start)), None
            if isinstance(laws, ScalarPool):
                law = float(laws.mean[place]), float(laws.variance[place])
            found[row] = float(scores[place]), law
        return found


def scores_of(
    scoring: Scoring, X: Any, is_open: Any, rows: list[int]
) -> dict[int, tuple[float, Any]]:
    """Scores and laws of some candidates, each in its tile."""
    if not rows:
        return {}
    tiles = sorted({row // X.tile_rows for row in rows})
    look = _ScoresOf(scoring, tuple(rows))
    return folded(X, look, _together, is_open=is_open, which=tiles)


def _together(parts: list[dict[Any, Any]]) -> dict[Any, Any]:
    return {key: value for part in parts for key, value in part.items()}


@dataclass(frozen=True)
class _Ranking:
    """The leaders of a tile, and its best rows."""

    scoring: Scoring
    wanted: int
    distinct: int

    def __call__(self, start: int, tile: Any, places: Indices) -> tuple[Part, Best]:
        rating = self.scoring.rated(start, tile, places)
        best = Best(self.wanted, self.distinct)
        best.add(start, places, rating.values)
        return Part.of(start, places, rating, None), best


def _ranked(parts: list[tuple[Part, Best]]) -> tuple[Part, Best]:
    held, best = parts[0]
    for later, others in parts[1:]:
        held = held.then(later)
        best.add(0, others.rows, others.values)
        best.cut = best.cut or others.cut
    return held, best


def _best_rows(
    selector: Selector, belief: Belief, X: Any, is_open: Any, count: int, seed: int
) -> StreamedChoice:
    """The rows of the best scores, for a rule whose batch they are."""
    scoring = Scoring(selector.surveyed(belief, X, is_open, seed), belief, seed)
    spare = SPARE
    while True:
        look = _Ranking(scoring, count, count + spare)
        held, best = folded(X, look, _ranked, is_open=is_open, rehearse=True)
        if held.mixed:
            rule = "must have one constant for all tiles where the rows of a batch are ranked"
            raise InvalidArgument("selector", rule, selector)
        rows = best.ranked(held.tolerance)
        if rows is not None:
            break
        spare *= 16
    picked = [int(row) for row in rows]
    chosen = scores_of(scoring, X, is_open, picked)
    return StreamedChoice(rows.astype(np.intp), held.summed(), chosen)
