"""Reading tiles from the highest bound down, until none that is left can matter.

The best row, the runner-up and the ties with both are found; of the other rows nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.selectors.ranking import tie
from apm.selectors.tiles.leaders import Leaders
from channelcode._validation import Array
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating

TRIES = 4  # tiles that are read before it is decided whether most must be


@dataclass(frozen=True, eq=False)
class TileLimits:
    """For each tile what no score and no power E|L|^2 of a candidate in it exceeds, `(t,)` each.

    `deepest`: no score of all is below it. `later`: what no score exceeds while a batch grows,
    where that is known (`apm.selectors.tiles.batch_bounds`).
    """

    highest: Array
    power: Array
    deepest: float
    later: Array | None = None


def read_down(
    limits: TileLimits,
    count: int,
    most: float,
    tiles: Callable[[Any], Any],
    rate: Callable[[int, Any, Any], Rating],
) -> Leaders | None:
    """The leaders of `count` candidates; None if more than `most` of the tiles can hold them.

    `tiles(numbers)` gives first row, rows and candidates of tiles, `rate` their rating.
    """
    held, highest = Found(limits.deepest), limits.highest
    order = np.argsort(-highest, kind="stable")
    unread = np.ones(len(order), dtype=bool)
    rest, size = order, 1
    while len(rest) and highest[rest[0]] >= held.enough:
        able = int(np.count_nonzero(highest[rest] >= held.enough))
        read = len(order) - len(rest)
        if read >= TRIES and read + able > most * len(order):
            return None
        step = rest[: min(able, size)]
        for start, tile, places in tiles(np.sort(step)):
            held.add(start + places, rate(start, tile, places))
        unread[step] = False
        rest, size = rest[len(step) :], 2 * size
    found = held.leaders(count)
    if found is None:
        return None
    if found.largest_power is not None:
        found.largest_power = max(found.largest_power, float(limits.power[unread].max(initial=0.0)))
    found.later = limits.later
    return found


class Found:
    """The best rows of the tiles that were read, ties with the second best included."""

    def __init__(self, deepest: float) -> None:
        self.deepest = deepest
        self.rows: list[Any] = []
        self.values: list[Any] = []
        self.laws: list[Any] = []
        self.top = self.second = -np.inf
        self.lowest, self.power, self.resolution = np.inf, 0.0, 0.0
        self.constant: float | None = None
        self.failed = False

    @property
    def enough(self) -> float:
        """What a score must reach to lead, be second, or tie with one of these."""
        if not np.isfinite(self.second) or self.failed:
            return -np.inf
        return self.second - 2.0 * tie(self.top, self.deepest, self.resolution)

    def add(self, rows: Any, rating: Rating) -> None:
        self.failed |= self.constant not in (None, rating.constant)
        self.constant, self.resolution = rating.constant, max(self.resolution, rating.resolution)
        values, laws = rating.values, rating.laws
        if len(values) > 1:
            best = np.partition(values, -2)[-2:]
        else:
            best = values
        self.second, self.top = np.sort(np.concatenate(([self.second, self.top], best)))[-2:]
        self.lowest = min(self.lowest, float(values.min()))
        near = values >= self.enough
        self.rows.append(rows[near])
        self.values.append(values[near])
        if isinstance(laws, ScalarPool):
            self.power = max(self.power, float(laws.second_moment.max()))
            self.laws.append((laws.mean[near], laws.variance[near]))

    def leaders(self, count: int) -> Leaders | None:
        """What a pass over all tiles would keep of the best; None if ties leave them open."""
        if self.failed or not np.isfinite(self.top) or not self.deepest <= self.lowest:
            return None
        rows, values = np.concatenate(self.rows), np.concatenate(self.values)
        order = np.argsort(rows)
        law = None
        if len(self.laws) == len(self.rows):
            law = ScalarPool(*(np.concatenate(each)[order] for each in zip(*self.laws)))
        from apm.selectors.base import Rating

        held = Leaders()
        held.add(0, rows[order], Rating(values[order], law, self.constant or 0.0, self.resolution))
        first = []
        for lowest in (self.lowest, self.deepest):
            held.lowest = lowest
            first.append(held.best())
        held.count, held.partial = count, True
        if held.largest_power is not None:
            held.largest_power = self.power
        return held if first[0] == first[1] and first[0] is not None else None
