"""Why a row of a pool on a cluster was chosen: the numbers of `explain`, from passes over there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from apm.belief import Belief
from apm.pools.placed import folded
from apm.selectors.explanation import Explanation, Extremes, Seen
from apm.selectors.ranking import Indices
from apm.selectors.tiled_explanation import Near, behind, concluded, seen_in_tile
from apm.selectors.tiles.placed import Part, Scoring, leaders
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.selectors.base import Selector


@dataclass(frozen=True)
class _Look:
    """What is seen of a tile: its extremes, and of the row in question all."""

    scoring: Scoring
    index: int

    def __call__(
        self, start: int, tile: Any, places: Indices
    ) -> tuple[Extremes | None, tuple[Seen, int, float, float] | None]:
        rating = self.scoring.rated(start, tile, places)
        seen = seen_in_tile(self.scoring.rule, self.scoring.belief, tile, places, rating)
        own = None
        if start <= self.index < start + len(tile):
            place = int(places.searchsorted(self.index - start))
            own = seen, place, float(rating.values[place]), rating.constant
        return Extremes.of(seen), own


def _looks(parts: list[Any]) -> Any:
    known = [pool for pool, _ in parts if pool is not None]
    own = next((own for _, own in parts if own is not None), None)
    return (reduce(Extremes.with_others, known) if known else None), own


@dataclass(frozen=True)
class _Stand:
    """The scores near one, and the leaders of the others."""

    scoring: Scoring
    constant: float
    value: float
    width: float
    index: int

    def __call__(self, start: int, tile: Any, places: Indices) -> tuple[Near, Part | None]:
        rating = self.scoring.rated(start, tile, places)
        values = rating.values + (rating.constant - self.constant)
        near = Near(self.value, self.width, self.index)
        near.add(start + places, values)
        apart = start + places != self.index
        if not apart.any():
            return near, None
        rest = type(rating)(values[apart], resolution=rating.resolution)
        return near, Part.of(start, places[apart], rest, None)


def _stands(parts: list[Any]) -> Any:
    others = [part for _, part in parts if part is not None]
    near = reduce(Near.with_others, [near for near, _ in parts])
    return near, (reduce(Part.then, others) if others else None)


def explain_placed(
    selector: Selector, rule: Selector, belief: Belief, X: Any, is_open: Any, index: int, seed: int
) -> Explanation:
    """The explanation of row `index` of X among those that `is_open (n,)` allows; three passes."""
    scoring = Scoring(rule, belief, seed)
    held = leaders(scoring, X, is_open)
    pool, own = folded(X, _Look(scoring, index), _looks, is_open=is_open, rehearse=True)
    if own is None:
        raise InvalidArgument("index", "must be one of the candidates", index)
    seen, place, value, constant = own
    value += constant - held.constant
    width = 16.0 * held.tolerance
    while True:
        look = _Stand(scoring, held.constant, value, width, index)
        near, others = folded(X, look, _stands, is_open=is_open)
        rank = near.rank(held.tolerance)
        if rank is not None:
            break
        width *= 64.0
    standing = behind(rank, Part() if others is None else others, held, value)
    return concluded(selector, seen, place, index, value, held, standing, pool, len(X))
