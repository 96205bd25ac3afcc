"""Scores tile by tile: the same for a matrix in memory and for rows that are streamed.

The rows of a tile are scored together, by the same code, whatever holds the pool; so the scores of
a streamed pool are those of memory to the last bit. Of a streamed pool only what decides is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.pools.inputs import is_streamed
from apm.pools.tiling import tile_rows
from apm.selectors.batch import condition
from apm.selectors.ranking import Indices
from apm.selectors.tiles.leaders import Best, Leaders
from channelcode._validation import Seed, as_generator, integer
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool, ScalarPool, ScaledPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector

SPARE = 64  # distinct scores that are kept beyond those of a batch, for chains of ties
LOOK_BYTES = 96  # of what a look at one row keeps: laws, moments, laws in the channel's own units
PATIENCE, REST = 3, 8  # after three questions that kept forms did not help, one of eight tries
HELD_BYTES = 64 << 20  # that looks at a pool in memory may take; or as much as the pool itself


def frozen(rng: Seed) -> int:
    """A seed that gives every tile the same draws."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(as_generator(rng).integers(2**63))
    return integer("rng", rng, least=0)


def open_tiles(X: Any, is_open: Any, which: Any = None) -> Iterator[tuple[int, Any, Indices]]:
    """First row, rows and places of the candidates of each tile that has some.

    `is_open` is a mask `(n,)` over the rows of X; `which` are numbers of tiles (None: all).
    """
    for start, tile in _tiles(X, which):
        places = np.flatnonzero(is_open[start : start + len(tile)])
        if len(places):
            yield start, tile, places


def _tiles(X: Any, which: Any) -> Iterator[tuple[int, Any]]:
    if is_streamed(X):
        yield from X.tiles(which)
        return
    height = tile_rows(X.shape[1], X.itemsize)
    for number in range(-(-len(X) // height)) if which is None else which:
        tile = X[number * height : (number + 1) * height]
        yield number * height, np.ascontiguousarray(tile)


def tile_values(X: Any, is_open: Any, function: Callable[[int, Any, Indices], Any]) -> list[Any]:
    """`function(start, tile, places)` of each tile with candidates, called where the rows lie."""
    if is_streamed(X) and X.placed:
        from apm.pools.placed import values_of

        return values_of(X, function, is_open=is_open)
    return [function(start, tile, places) for start, tile, places in open_tiles(X, is_open)]


def require_by_row(selector: Selector, belief: Belief) -> None:
    """Refuse a rule that must see all rows at once, before any of them is read."""
    reason = selector.needs_all_rows(belief)
    if reason is not None:
        rule = f"must score each row by itself where the pool is streamed, but {reason}"
        raise InvalidArgument("selector", rule, selector)


def tiled_rating(
    selector: Selector, belief: Belief, X: Any, candidates: Indices, rng: Seed
) -> Rating | None:
    """The rating of a large pool in memory as that of a stream; None if it needs all rows."""
    if selector.needs_all_rows(belief):
        return None
    seed = frozen(rng)
    if belief.forms(X) is not None:  # in one piece, by the draws of a stream
        return selector.drawn(X, seed)._rate(belief, X, candidates, seed)
    is_open = np.zeros(len(X), dtype=bool)
    is_open[candidates] = True
    looked = _looked(selector, belief, X, is_open)
    if looked is not None:
        return _joined(looked)
    ready = selector.surveyed(belief, X, is_open, seed)
    return _joined(
        [
            ready._rate(belief, tile, places, ready.tile_seed(seed, start))
            for start, tile, places in open_tiles(X, is_open)
        ]
    )


def _looked(selector: Selector, belief: Belief, X: Any, is_open: Any) -> list[Rating] | None:
    """The ratings of all tiles by one look at each, for a budget over the pool; else None."""
    if not selector.looks_twice or len(X) * LOOK_BYTES > max(HELD_BYTES, X.nbytes):
        return None
    ready = selector.looking(belief, X)
    looks, amounts = [], []
    for _, tile, places in open_tiles(X, is_open):
        look = None if ready is None else ready.look(belief, tile, places)
        if ready is None or look is None:
            return None
        looks.append(look)
        amounts.append(look.budget(ready, belief, tile))
    power = ready.power.joined(amounts)
    return [ready.rated(look, power) for look in looks]


def _joined(ratings: list[Rating]) -> Rating:
    """One rating of the candidates of several tiles."""
    first = ratings[0]
    values = [  # the constant is that of one target; if a rule has several, they are told apart
        each.values + (each.constant - first.constant)
        if each.constant != first.constant
        else each.values
        for each in ratings
    ]
    resolution = max(each.resolution for each in ratings)
    laws = _joined_laws([each.laws for each in ratings])
    return type(first)(np.concatenate(values), laws, first.constant, resolution)


def _joined_laws(laws: list[Pool | None]) -> Pool | None:
    known: list[Any] = [each for each in laws if each is not None]
    if len(known) < len(laws):
        return None
    kind = type(known[0])
    mean = np.concatenate([each.mean for each in known]) if kind in (ScalarPool, ScaledPool) else 0
    if kind is ScalarPool:
        return ScalarPool(mean, np.concatenate([each.variance for each in known]))
    if kind is ScaledPool:
        scale = np.concatenate([each.scale for each in known])
        return ScaledPool(mean, scale, known[0].shape)
    return None


@dataclass(frozen=True)
class StreamedChoice:
    """One selection from a streamed pool, with what is known of its scores.

    `indices` are the rows chosen, best first; the scores of the others are not kept.
    """

    indices: Indices
    leaders: Leaders = field(repr=False)
    chosen: dict[int, tuple[float, Any]] = field(repr=False)

    @property
    def num_candidates(self) -> int:
        """How many rows could be asked."""
        return self.leaders.count

    @property
    def has_laws(self) -> bool:
        """Whether the selector computed the laws of the candidates."""
        return self.leaders.largest_power is not None

    @property
    def largest_power(self) -> float | None:
        """The largest E|L|^2 of the candidates, if their laws were computed."""
        return self.leaders.largest_power

    def law(self, row: int) -> Any:
        """Mean and variance of a chosen row's input, where they were computed on the line."""
        return self.chosen[row][1]

    def numbers(self, row: int) -> tuple[Any, ...]:
        """The fields of a `ScoreSummary` of a chosen row."""
        held, score = self.leaders, self.chosen[row][0]
        others = [(value, other) for value, other in held.two if other != row]
        runner_up = margin = None
        if others:
            runner_up, margin = others[0][1], score - (others[0][0] + held.constant)
        mean = lowest = None
        if not held.partial:
            mean, lowest = held.total / held.count, held.lowest + held.constant
        return score, runner_up, margin, mean, lowest, held.count


def choose_streamed(
    selector: Selector, belief: Belief, X: Any, is_open: Any, *, n: int = 1, rng: Seed = None
) -> Any:
    """The n rows of streamed X to label next, of those that `is_open (n,)` allows."""
    if X.num_tiles == 1:
        return selector.choose(belief, X[:], np.flatnonzero(is_open), n=n, rng=rng)
    require_by_row(selector, belief)
    count, free = integer("n", n, least=1), int(np.count_nonzero(is_open))
    if count > free:
        raise InvalidArgument("n", f"must be at most {free}, the rows left", n)
    seed = frozen(rng)
    if X.placed:
        from apm.selectors.tiles.placed import choose_placed

        return choose_placed(selector, belief, X, is_open, count, seed, rng)
    from apm.selectors.tiles.foresight import Foresight

    if count > 1 and not selector.adapts:
        return _best_rows(selector, belief, X, is_open, count, seed)
    first: Leaders | None = None
    picked: list[int] = []
    chosen: dict[int, tuple[float, Any]] = {}
    ready = selector
    now, left = belief, is_open
    bounds = None
    foresight = Foresight(selector, X, count, rng) if selector.looks_twice else None
    while True:
        found = None
        if foresight is not None:
            found = foresight.pick(now, left, picked, partial(open_tiles, X, left))
            if found is None:
                found = passed_once(selector, now, X, left, keep=not picked)
        rule = selector.surveyed(now, X, left, seed) if found is None else found[0]
        row = None
        if first is None and count > 1:
            from apm.selectors.tiles.batch_bounds import TileBounds

            bounds = TileBounds.of(rule, now, X)
        elif bounds is not None:
            row = bounds.pick(partial(_rated_tile, rule, now, X, left, seed), X.tile_rows)
        if row is None:
            if found is None:
                own = bounds if first is None else None
                held = _passed(rule, now, X, left, seed, own, count - len(picked))
            else:
                held = found[1]
            if held.partial and bounds is not None:
                bounds = bounds.taken(held)
            place = held.best()
            if place is None:
                row = _first_within(rule, now, X, left, seed, held)
            else:
                row = held.rows[place]
            if first is None:
                first, ready = held, rule
                if place is not None:
                    chosen[row] = held.values[place] + held.constant, held.laws[place]
        picked.append(row)
        if len(picked) == count:
            break
        left = left.copy()
        left[row] = False
        now = condition(now, X[row], rng=rng)
    if foresight is not None:
        foresight.done()
    for row in picked:
        if row not in chosen:
            chosen[row] = _score_of(ready, belief, X, is_open, seed, row)
    return StreamedChoice(np.array(picked, dtype=np.intp), first, chosen)  # type: ignore[arg-type]


def _passed(
    rule: Selector, belief: Belief, X: Any, is_open: Any, seed: int, bounds: Any, wanted: int
) -> Leaders:
    """The leaders by a pass over the tiles: those that can hold them, where bounds are known."""
    from apm.selectors.tiles.pruning import Pruning

    def rate(start: int, tile: Any, places: Indices) -> Rating:
        return rule._rate(belief, tile, places, rule.tile_seed(seed, start))

    pruning = Pruning.of(rule, belief, X)
    if pruning is not None:
        found = pruning.pick(is_open, partial(open_tiles, X, is_open), rate, wanted)
        if found is not None:
            return found
    held, X.kept = Leaders(), None
    kept = None if pruning is None else pruning.keeping(is_open)
    for start, tile, places in open_tiles(X, is_open):
        rating = rate(start, tile, places)
        held.add(start, places, rating)
        if pruning is not None:
            pruning.read(start, tile, places, rating)
        if kept is not None and rating.laws is not None:
            kept.add(start, tile, places, (rating.laws.total_variance,))
        if bounds is not None:
            bounds.add(start, rating)
    X.kept = kept if kept is not None and kept.complete else None
    return held


def passed_once(
    selector: Selector, belief: Belief, X: Any, is_open: Any, *, keep: bool = False
) -> tuple[Selector, Leaders] | None:
    """The rule at its budget and the leaders, by one pass where a budget is over the pool.

    With `keep`, what it finds of each row is kept for the next question, where that can help.
    """
    from apm.selectors.tiles.envelope import envelope_of
    from apm.selectors.tiles.foresight import Lines

    kept, lines = None, Lines.of(selector, belief, X)
    if keep:
        X.kept = None
        if X.misses >= PATIENCE:  # of no use so far: now and then another try
            X.misses += 1
        rests = X.misses > PATIENCE and X.misses % REST
        kept = None if lines is None or rests else lines.kept(X, is_open)
    envelope = envelope_of(selector, belief, X, kept, None if lines is None else lines.rule)
    if envelope is None:
        return None
    for start, tile, places in open_tiles(X, is_open):
        envelope.add(start, tile, places)
        if envelope.failed:
            return None
    if kept is not None and kept.complete:
        X.kept = kept
    return envelope.finish()


def _rated_tile(
    rule: Selector, belief: Belief, X: Any, is_open: Any, seed: int, number: int
) -> tuple[Indices, Rating] | None:
    """Rows and rating of the candidates of one tile; None if it has none."""
    for start, tile, places in open_tiles(X, is_open, [number]):
        return start + places, rule._rate(belief, tile, places, rule.tile_seed(seed, start))
    return None


def _score_of(
    rule: Selector, belief: Belief, X: Any, is_open: Any, seed: int, row: int
) -> tuple[float, Any]:
    """Score and law of one row, in its tile."""
    for start, tile, places in open_tiles(X, is_open, [row // X.tile_rows]):
        rating = rule._rate(belief, tile, places, rule.tile_seed(seed, start))
        place = int(np.searchsorted(places, row - start))
        laws, law = rating.laws, None
        if isinstance(laws, ScalarPool):
            law = float(laws.mean[place]), float(laws.variance[place])
        return float(rating.scores[place]), law
    raise InvalidArgument("index", "must be a row that may be asked", row)


def _first_within(
    rule: Selector, belief: Belief, X: Any, is_open: Any, seed: int, held: Leaders
) -> int:
    """The first row within the tolerance of the best, at a second look."""
    enough = held.top - held.tolerance
    for start, tile, places in open_tiles(X, is_open):
        values = rule._rate(belief, tile, places, rule.tile_seed(seed, start)).values
        found = np.flatnonzero(values >= enough)
        if len(found):
            return int(start + places[found[0]])
    raise InvalidArgument("pool", "must not change while it is used", "other scores")


def _best_rows(
    selector: Selector, belief: Belief, X: Any, is_open: Any, count: int, seed: int
) -> StreamedChoice:
    """The rows of the best scores, for a rule whose batch they are."""
    rule = selector.surveyed(belief, X, is_open, seed)
    spare = SPARE
    while True:
        held, best = Leaders(), Best(count, count + spare)
        for start, tile, places in open_tiles(X, is_open):
            rating = rule._rate(belief, tile, places, rule.tile_seed(seed, start))
            held.add(start, places, rating)
            best.add(start, places, rating.values)
        rows = best.ranked(held.tolerance)
        if rows is not None:
            break
        spare *= 16
    chosen = {int(row): _score_of(rule, belief, X, is_open, seed, int(row)) for row in rows}
    return StreamedChoice(rows.astype(np.intp), held, chosen)
