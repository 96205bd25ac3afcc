"""What a pass over the scores of many tiles keeps: enough to decide as all of them would."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.selectors.ranking import Indices, tie
from channelcode._validation import Array
from channelcode.measures import Pool, ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating

MOST_RECORDS = 1 << 16  # rows that lead all rows before them: more only if scores rise all along
BEST, STRONGEST = 2048, 512  # rows that are held of either kind
OF_A_TILE = 64


@dataclass
class Leaders:
    """What one pass over the scores keeps.

    `rows`, `values`, `laws`: the rows that lead all rows before them. The first row within any
    tolerance of the best is one of these. `dropped` is the best of those that were forgotten.
    `partial`: rows that cannot lead were not scored, so `total` and `lowest` are not of all; then
    `later` are bounds on the scores of the tiles while a batch grows, where they are known.
    """

    count: int = 0
    total: float = 0.0
    lowest: float = np.inf
    constant: float = 0.0
    resolution: float = 0.0
    top: float = -np.inf
    largest_power: float | None = 0.0
    dropped: float = -np.inf
    partial: bool = False
    later: Array | None = None
    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    laws: list[Any] = field(default_factory=list)
    two: list[tuple[float, int]] = field(default_factory=list)

    def add(self, start: int, places: Indices, rating: Rating) -> None:
        """Take in the scores of the candidates at `places` of the tile that begins at `start`."""
        values = rating.values
        if self.count == 0:
            self.constant = rating.constant
        elif rating.constant != self.constant:
            values = values + (rating.constant - self.constant)
        scores = values + self.constant if self.constant else values
        self.resolution = max(self.resolution, rating.resolution)
        self.lowest = min(self.lowest, float(values.min()))
        self.total += float(np.add.reduce(scores))
        self._second(start, places, values)
        self._power(rating.laws)
        peak = float(values.max())
        if peak > self.top or self.count == 0:
            self._lead(start, places, values, rating.laws)
        self.top = max(self.top, peak)
        self.count += len(places)

    def _lead(self, start: int, places: Indices, values: Array, laws: Pool | None) -> None:
        before = np.maximum.accumulate(np.concatenate(([self.top], values[:-1])))
        found = np.flatnonzero(values > before)
        if self.count == 0 and (len(found) == 0 or found[0] != 0):
            found = np.concatenate(([0], found))
        self.rows.extend((start + places[found]).tolist())
        self.values.extend(values[found].tolist())
        held = (None,) * len(found)
        if isinstance(laws, ScalarPool):
            held = tuple(zip(laws.mean[found].tolist(), laws.variance[found].tolist()))
        self.laws.extend(held)
        if len(self.rows) > MOST_RECORDS:
            half = len(self.rows) // 2
            self.dropped = self.values[half - 1]
            del self.rows[:half], self.values[:half], self.laws[:half]

    def _second(self, start: int, places: Indices, values: Array) -> None:
        """The two best values, of equal ones the first rows."""
        if len(self.two) == 2 and not values.max() > self.two[1][0]:
            return
        place = int(values.argmax())
        found = [(float(values[place]), int(start + places[place]))]
        if len(values) > 1:
            rest = values.copy()
            rest[place] = -np.inf
            other = int(rest.argmax())
            found.append((float(rest[other]), int(start + places[other])))
        self.two = sorted(self.two + found, key=lambda pair: (-pair[0], pair[1]))[:2]

    def _power(self, laws: Pool | None) -> None:
        if laws is None or self.largest_power is None:
            self.largest_power = None
        else:
            self.largest_power = max(self.largest_power, float(laws.second_moment.max()))

    @property
    def tolerance(self) -> float:
        """How near two scores are to be called equal, as `ranking` has it."""
        return tie(self.top, self.lowest, self.resolution)

    def best(self) -> int | None:
        """The place of the best row among `rows`; None if it was forgotten."""
        if not np.isfinite(self.top):
            return len(self.rows) - 1
        enough = self.top - self.tolerance
        if self.dropped >= enough:
            return None
        return next(place for place, value in enumerate(self.values) if value >= enough)


@dataclass
class Best:
    """The best rows in the order of `ranking`, from scores that come tile by tile."""

    wanted: int
    distinct: int
    values: Any = field(default_factory=lambda: np.empty(0))
    rows: Any = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    cut: bool = False

    def add(self, start: int, places: Indices, values: Array) -> None:
        """Keep the best distinct scores, and of each the first rows."""
        if self.cut:
            kept = values >= self.values[-1]
            values, places = values[kept], places[kept]
        values = np.concatenate((self.values, values))
        rows = np.concatenate((self.rows, start + places))
        order = np.lexsort((rows, -values))
        values, rows = values[order], rows[order]
        fresh = np.concatenate(([True], values[1:] != values[:-1])) if len(values) else values > 0
        number = np.cumsum(fresh) - 1
        first = np.flatnonzero(fresh)
        behind = np.arange(len(values)) - first[number] if len(values) else number
        kept = (number < self.distinct) & (behind < self.wanted)
        self.cut = self.cut or bool((number >= self.distinct).any())
        self.values, self.rows = values[kept], rows[kept]

    def ranked(self, tolerance: float) -> Indices | None:
        """The best rows; None if a chain of ties leads beyond what was kept."""
        steps = np.diff(self.values) < -tolerance
        group = np.concatenate(([0], np.cumsum(steps)))
        if self.cut and not (group < group[-1]).sum() >= self.wanted:
            return None
        return self.rows[np.lexsort((self.rows, group))][: self.wanted]


class Foremost:
    """The rows of the highest scores that a pass saw, and those that set the budget.

    Nothing that is decided rests on them: they say what is likely, and bounds say what is so.
    """

    def __init__(self, columns: int, dtype: Any) -> None:
        self.best = _Highest(BEST, columns, dtype)
        self.strongest = _Highest(STRONGEST, columns, dtype)

    def known(self) -> tuple[Any, Any]:
        """Their numbers, in order and each once, and their features."""
        both = self.best, self.strongest
        rows, first = np.unique(np.concatenate([each.rows for each in both]), return_index=True)
        return rows, np.concatenate([each.features for each in both])[first]


class _Highest:
    """The rows of the highest of some values."""

    def __init__(self, most: int, columns: int, dtype: Any) -> None:
        self.most = most
        # joined when they are too many, and not at each tile
        none = np.empty(0, dtype=np.intp), np.empty(0), np.empty((0, columns), dtype)
        self._parts: list[tuple[Any, Any, Any]] = [none]
        self._count = 0
        self.enough = -np.inf  # what is not above it is not kept

    @property
    def rows(self) -> Any:
        """Their numbers, in the order in which they were kept."""
        return self._joined()[0]

    @property
    def features(self) -> Any:
        """The rows themselves."""
        return self._joined()[2]

    def add(self, start: int, tile: Any, places: Any, values: Array) -> None:
        """Keep the highest of the candidates of a tile, by values `(len(places),)`."""
        some = (values > self.enough).nonzero()[0]
        if len(some) == 0:
            return
        if len(some) > OF_A_TILE:  # the first tiles do not fill all places
            some = some[np.argpartition(-values[some], OF_A_TILE - 1)[:OF_A_TILE]]
        where = places[some]
        self._parts.append((start + where, values[some], tile[where]))
        self._count += len(some)
        if self._count > 2 * self.most:
            rows, kept, features = self._joined()
            best = np.argpartition(-kept, self.most - 1)[: self.most]
            self._parts = [(rows[best], kept[best], features[best])]
            self._count, self.enough = self.most, float(kept[best].min())

    def _joined(self) -> tuple[Any, Any, Any]:
        """Numbers, values and features of all that are held, as one part."""
        if len(self._parts) > 1:
            rows, values, features = (np.concatenate(each) for each in zip(*self._parts))
            self._parts = [(rows, values, features)]
        return self._parts[0]
