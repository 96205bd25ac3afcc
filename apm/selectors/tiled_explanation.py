"""Why a row of a streamed pool was chosen: the numbers of `explain`, from passes over the tiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.pools.tiling import tile_rows
from apm.selectors.candidates import candidate_laws
from apm.selectors.explanation import Explanation, Extremes, Place, Seen, explained
from apm.selectors.tiled import Leaders, frozen, open_tiles, passed_once, require_by_row
from channelcode._validation import Seed
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector

GUESS = 1e-9  # of the scores: more than any tie, and few scores are as near to one


def explain_streamed(
    selector: Selector, belief: Belief, X: Any, is_open: Any, index: int, rng: Seed
) -> Explanation:
    """The explanation of row `index` of streamed X among those that `is_open (n,)` allows.

    One pass for the scores, the information and the rank of all rows, after one for a budget over
    the pool. Where a long chain of ties leads away from the row, the rank takes another.
    """
    if not is_open[index]:
        raise InvalidArgument("index", "must be one of the candidates", index)
    if X.num_tiles == 1:
        return selector.explain(belief, X[:], index, exclude=~is_open, rng=rng)
    require_by_row(selector, belief)
    seed = frozen(rng)
    if X.placed:
        from apm.selectors.tiles.placed_explanation import explain_placed

        rule = selector.surveyed(belief, X, is_open, seed)
        return explain_placed(selector, rule, belief, X, is_open, index, seed)
    known = passed_once(selector, belief, X, is_open)
    rule = selector.surveyed(belief, X, is_open, seed) if known is None else known[0]
    return explain_by_tiles(selector, rule, belief, X, is_open, index, seed)


def explain_by_tiles(
    selector: Selector, rule: Selector, belief: Belief, X: Any, is_open: Any, index: int, seed: int
) -> Explanation:
    """The same for rows read here or in memory, by a rule that knows its budget."""

    def rate(start: int, tile: Any, places: Any) -> Rating:
        return rule._rate(belief, tile, places, rule.tile_seed(seed, start))

    height = tile_rows(X.shape[1], X.itemsize)
    ((start, tile, places),) = open_tiles(X, is_open, [index // height])
    rating, place = rate(start, tile, places), int(np.searchsorted(places, index - start))
    own = seen_in_tile(rule, belief, tile, places, rating)
    value, constant = float(rating.values[place]), rating.constant
    width = GUESS * float(np.abs(rating.values).max())
    held, others, pool, near = Leaders(), Leaders(), None, None
    for start, tile, places in open_tiles(X, is_open):
        rating = rate(start, tile, places)
        held.add(start, places, rating)
        if near is None:
            value += constant - held.constant
            near = Near(value, width, index)
        _take(near, others, start, places, rating, held.constant)
        found = Extremes.of(seen_in_tile(rule, belief, tile, places, rating))
        if found is not None:
            pool = found if pool is None else pool.with_others(found)
    rank = None if near is None else near.rank(held.tolerance)
    if rank is None:
        standing = _standing(rule, belief, X, is_open, seed, held, index, value)
    else:
        standing = behind(rank, others, held, value)
    return concluded(selector, own, place, index, value, held, standing, pool, len(X))


def _take(
    near: Near, others: Leaders, start: int, places: Any, rating: Rating, constant: float
) -> None:
    """Take in the scores of a tile for the rank of a row, and for the best of the others."""
    values = rating.values + (rating.constant - constant)
    near.add(start + places, values)
    apart = start + places != near.index
    if apart.any():
        rest = type(rating)(values[apart], resolution=rating.resolution)
        others.add(start, places[apart], rest)


def concluded(
    selector: Selector, own: Seen, place: int, index: int, value: float, held: Leaders,
    standing: tuple[int, int | None, float | None], pool: Extremes | None, rows: int,
) -> Explanation:  # fmt: skip
    """The explanation of the row at `place` of a tile, of which `own` was seen."""
    rank, runner_up, margin = standing
    own = replace(own, budget=repr(power)) if (power := getattr(selector, "power", None)) else own
    stands = Place(index, value + held.constant, rank, held.count, runner_up, margin)
    return explained(_worded(selector, own, rows), place, stands, pool)


def seen_in_tile(rule: Selector, belief: Belief, tile: Any, places: Any, rating: Rating) -> Seen:
    laws = rating.laws
    laws = candidate_laws(belief, tile, places) if laws is None else laws
    return rule.seen(belief, tile, places, laws, rating)


def _worded(selector: Selector, seen: Seen, rows: int) -> Seen:
    """What was seen of one tile, in words about the whole pool."""
    message = getattr(selector, "message", None)
    return seen if message is None else replace(seen, message=message.describe(rows))


def _standing(
    rule: Selector, belief: Belief, X: Any, is_open: Any, seed: int, held: Leaders, index: int,
    value: float,
) -> tuple[int, int | None, float | None]:  # fmt: skip
    """Rank, best other row and the lead over it, by the order of `ranking`.

    Scores are equal if a chain of steps within the tolerance joins them, and equal ones stand in
    the order of their rows. So the distinct scores near this one are counted.
    """
    width = 16.0 * held.tolerance
    while True:
        near, others = Near(value, width, index), Leaders()
        for start, tile, places in open_tiles(X, is_open):
            rating = rule._rate(belief, tile, places, rule.tile_seed(seed, start))
            _take(near, others, start, places, rating, held.constant)
        rank = near.rank(held.tolerance)
        if rank is not None:
            return behind(rank, others, held, value)
        width *= 64.0


def behind(
    rank: int, others: Leaders, held: Leaders, value: float
) -> tuple[int, int | None, float | None]:
    """The rank, and of all other rows the best with the lead over it."""
    if others.count == 0:
        return rank, None, None
    others.lowest = held.lowest
    place = others.best()
    if place is None:  # scores that rise all along: the best itself will do
        place = len(others.rows) - 1
    return rank, others.rows[place], value - others.values[place]


class Near:
    """The distinct scores within `width` of one, how often, and how often before a row."""

    def __init__(self, value: float, width: float, index: int) -> None:
        self.value, self.width, self.index = value, width, index
        self.above = self.below = 0
        self.counts: dict[float, tuple[int, int]] = {}

    def add(self, rows: Any, values: Any) -> None:
        """Take in the scores of some rows."""
        high, low = values > self.value + self.width, values < self.value - self.width
        self.above += int(np.count_nonzero(high))
        self.below += int(np.count_nonzero(low))
        inside = ~(high | low)
        for each in np.unique(values[inside]):
            same = rows[inside & (values == each)]
            count, before = self.counts.get(float(each), (0, 0))
            earlier = int(np.count_nonzero(same < self.index))
            self.counts[float(each)] = count + len(same), before + earlier

    def with_others(self, other: Near) -> Near:
        """This with the scores that another has taken in."""
        self.above += other.above
        self.below += other.below
        for each, (count, before) in other.counts.items():
            held = self.counts.get(each, (0, 0))
            self.counts[each] = held[0] + count, held[1] + before
        return self

    def _chain(self, tolerance: float) -> tuple[list[float], list[float]] | None:
        """The scores above the chain of this one, and the chain; None if it leads out."""
        ordered = sorted(self.counts, reverse=True)
        groups: list[list[float]] = []
        for each in ordered:
            if groups and not each - groups[-1][-1] < -tolerance:
                groups[-1].append(each)
            else:
                groups.append([each])
        where = next((k for k, group in enumerate(groups) if self.value in group), None)
        if where is None:
            return None
        group = groups[where]
        edge = self.value + self.width - tolerance, self.value - self.width + tolerance
        if (self.above and group[0] > edge[0]) or (self.below and group[-1] < edge[1]):
            return None
        return [each for part in groups[:where] for each in part], group

    def rank(self, tolerance: float) -> int | None:
        """How many rows stand before the one; None if the window is too narrow."""
        if not np.isfinite(self.value):
            return self.above + sum(before for _, before in self.counts.values())
        found = self._chain(tolerance)
        if found is None:
            return None
        above, group = found
        return (
            self.above
            + sum(self.counts[each][0] for each in above)
            + sum(self.counts[each][1] for each in group)
        )
