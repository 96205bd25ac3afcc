"""A pass that bounds the scores of all rows by few products, and so tells which tiles matter.

Kept forms say within a hundredth where the variance of an input is, and its signal (`Moved`). With
the mean, one product more, they bound the score of every row; tiles are then read and scored as
ever from the highest bound down. The same pass can look at several beliefs: those that a batch is
foretold to go through (`apm.selectors.tiles.foresight`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from apm.posteriors.covariances.products import times
from apm.selectors.tiles.descent import TileLimits
from apm.selectors.tiles.kept_forms import Forms, KeptForms, Moved
from apm.selectors.tiles.leaders import Foremost
from apm.selectors.tiles.records import Ranges
from channelcode._validation import Array

ROUNDING = 1e-12  # of a score in double precision, relative to the largest
COLUMNS = 15  # products that a pass spends on changes of forms, for each belief
TOGETHER = 4096  # rows that are set aside before they are multiplied
MOST = 0.2  # of all rows: if more are set aside, a pass by all products costs no more
STALE = 0.04  # if that many were, the next question takes such a pass
LOOSE = 0.02  # if that many were, the next question spends more products
CLOSE = 64  # rows of those set aside whose scores are bounded from both sides
AMONG = 16  # best rows of which the next row of a batch is likely one
NEAR = 1e-9  # of a score: rows this near to the second best are set aside
# Products of rows with few columns are taken by pieces: a larger one may take twice as long.
WORK, LEAST = 1 << 20, 16


class Glance(NamedTuple):
    """What a sight found of a tile: rows that are noted or set aside, and what bounds the others.

    `rows` `(k,)` are places among the candidates, `values` `(k,)` each; `others` the largest of
    each kind of the rows that are not set aside.
    """

    rows: Any
    values: Sequence[Array]
    others: list[float]


class Sight(ABC):
    """What a pass keeps of the scores of each tile, under one belief.

    Rows whose bound reaches `enough`, a guess at what the best must reach, are set aside and
    multiplied by all of the forms, some thousand at a time.
    """

    notes = False  # whether it is worth noting which rows are foremost
    after: Any = None  # the sight whose ranges it goes on from
    first = 0  # rows that are set aside before it is known what is enough

    def __init__(
        self,
        kept: KeptForms,
        posterior: Any,
        forms: Forms,
        most: int,
        after: Moved | None = None,
    ) -> None:
        self.kept, self.moved = kept, Moved(kept, forms, most, after)
        self.theta = np.asarray(posterior.mean, dtype=np.float64)
        self.off = 2.0 * kept.unit * float(np.linalg.norm(self.theta))
        self.power = np.full(len(kept.length), -np.inf)
        self.enough = np.inf
        self.aside: list[tuple[int, Any]] = []
        self.waiting = self.refined = self.seen = 0
        self.lost = False  # if too many rows were set aside
        self.foremost: Foremost | None = None  # where one of several sights notes rows

    def add(self, start: int, tile: Any, places: Any, mean: Array, image: Array) -> None:
        """Bound the scores of the candidates of a tile, by products with mean and columns."""
        number, self.seen = start // self.kept.height, self.seen + len(places)
        seen = None
        if self.kept.knows(start, places):
            seen = self._glanced(start, places, mean, image)
        if seen is None or not np.isfinite(self.power[number]):
            self.power[number] = np.inf
            self._unknown(number)
            return
        if self.foremost is not None:
            where = places[seen.rows]
            self.foremost.best.add(start, tile, where, seen.values[0])
            self.foremost.strongest.add(start, tile, where, seen.values[-1])
        some = seen.rows[seen.values[0] >= self.enough]
        if len(some):
            self.aside.append((number, tile[places[some]]))
            self.waiting += len(some)
            if self.waiting > TOGETHER:
                self.refine()
                self.lost = self.refined > MOST * self.seen + max(self.first, TOGETHER)
        self._take(number, seen.others)

    def _glanced(self, start: int, places: Any, mean: Array, image: Array) -> Glance | None:
        """Which candidates of a tile stand out, and what bounds the others; None if unknown."""
        values = self._looked(start, places, mean, image)
        if values is None:
            return None
        aside = values[0] >= self.enough
        best, strongest = self._standing
        some = aside.nonzero()[0]
        if self.foremost is not None:
            some = (aside | (values[0] > best) | (values[-1] > strongest)).nonzero()[0]
        picked = [each[some] for each in values]
        for each in values:
            each[aside] = -np.inf
        return Glance(some, picked, [float(each.max()) for each in values])

    @property
    def _standing(self) -> tuple[float, float]:
        """What is foremost: above the first by its own value, or the second by its amount."""
        if self.foremost is None:
            return np.inf, np.inf
        return self.foremost.best.enough, self.foremost.strongest.enough

    def refine(self) -> None:
        """Bound the rows that were set aside by all of their products."""
        if not self.aside:
            return
        numbers = np.concatenate([np.full(len(rows), number) for number, rows in self.aside])
        rows = np.concatenate([rows for _, rows in self.aside])
        self.aside, self.waiting, self.refined = [], 0, self.refined + len(rows)
        length = self.kept.length[numbers]
        size = np.abs(times(rows, self.theta[:, None])[:, 0], dtype=np.float64)
        error = self.off * length + self.kept.floor
        forms = self.moved.exact(rows, length)
        self._take(numbers, self._bounded(length, size, error, forms))

    @property
    def stale(self) -> bool:
        """Whether the kept forms are of little use by now."""
        return self.lost or self.refined > STALE * self.seen + self.first

    @property
    def loose(self) -> bool:
        """Whether more products would help."""
        return self.refined > LOOSE * self.seen + self.first

    @abstractmethod
    def _unknown(self, number: int) -> None:
        """Bound a tile of which nothing is known."""

    @abstractmethod
    def _looked(self, start: int, places: Any, mean: Array, image: Array) -> list[Array] | None:
        """Bounds on the candidates of a tile, and on its power; None if a product overflows."""

    @abstractmethod
    def _bounded(self, length: Any, size: Array, error: Any, forms: Any) -> list[Array]:
        """Bounds on rows no longer than `length`, by |m| up to an error and ranges of the forms.

        The first is compared with `enough`; by the last rows are known that may set a budget.
        """

    @abstractmethod
    def _take(self, numbers: Any, values: list[Any]) -> None:
        """Raise the bounds of tiles: of one by a number, or of many by those of their rows."""


class PlainSight(Sight):
    """A rule whose bounds follow from |m| and s (`apm.selectors.tiles.pruning.Reach`)."""

    def __init__(
        self, reach: Any, kept: KeptForms, posterior: Any, forms: Forms, most: int = COLUMNS,
        *, wanted: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(kept, posterior, forms, most)
        self.reach, self.enough = reach, -np.inf
        self.first = kept.height + TOGETHER
        # what the best rows that were set aside score at least: two, or more where some are taken
        self.best = np.full(min(2 + AMONG * (wanted - 1), CLOSE), -np.inf)
        self.highest = np.full(len(self.power), -np.inf)
        self.later = self.highest.copy()
        self.ends = np.array([0.0, np.inf, 0.0])  # largest |m|, least and largest variance
        self.blur = 2.0 * kept.unit * self.moved.now.sizes[0][1]

    def _unknown(self, number: int) -> None:
        self.highest[number] = self.later[number] = np.inf
        self.ends[:] = np.inf, 0.0, np.inf

    def _looked(self, start: int, places: Any, mean: Array, image: Array) -> list[Array] | None:
        number, forms = start // self.kept.height, self.moved.ranges(start, places, image)
        if forms is None:
            return None
        size, length = np.abs(mean, dtype=np.float64), float(self.kept.length[number])
        error = self.off * length + self.kept.floor
        power = (float(size.max()) + error) ** 2 + float(forms[0][1].max())
        self.power[number] = power * (1.0 + ROUNDING)
        return self._bounded(length, size, error, forms)

    def _bounded(self, length: Any, size: Array, error: Any, forms: Any) -> list[Array]:
        ((low, high),) = forms
        near, longest = np.maximum(size - error, 0.0), float(np.max(length))
        far, least, most = self.ends
        self.ends[:] = max(far, (size + error).max()), min(least, low.min()), max(most, high.max())
        off, blur = self.off * longest, self.blur * longest + self.kept.floor
        found = list(self.reach.quickly(near, (low, high), off, blur))
        if np.ndim(length):
            self._close(found, Ranges(near, size + error, np.sqrt(low), np.sqrt(high)), off, blur)
        return found

    def _close(self, found: list[Array], ranges: Ranges, off: float, blur: float) -> None:
        """Bound the best of rows that were set aside as closely as can be, and raise `enough`."""
        high = found[0]
        some = np.argpartition(-high, CLOSE)[:CLOSE] if len(high) > CLOSE else np.arange(len(high))
        while len(some):
            few = Ranges(*(each[some] for each in ranges))
            found[0][some] = np.minimum(found[0][some], self.reach.highest(few))
            found[1][some] = np.minimum(found[1][some], self.reach.while_asked(few, off, blur))
            best = np.sort(np.concatenate((self.best, self.reach.lowest(few))))
            self.best = best[-len(self.best) :]
            self.enough = max(self.enough, self.best[0] - NEAR * abs(self.best[0]))
            high = np.where(np.isin(np.arange(len(high)), some), -np.inf, high)
            some = np.flatnonzero(high >= self.enough)

    def _take(self, numbers: Any, values: list[Any]) -> None:
        for bounds, each in zip((self.highest, self.later), values, strict=True):
            raise_bounds(bounds, numbers, each)

    @property
    def limits(self) -> TileLimits:
        """The bounds of all tiles."""
        deepest = -np.inf
        if np.isfinite(self.ends).all():
            far, *ends = self.ends
            ranges = Ranges(*(np.array([end]) for end in (0.0, far, *np.sqrt(ends))))
            deepest = float(self.reach.lowest(ranges)[0])
        every = np.concatenate((self.highest, self.later, [deepest]))
        slack = ROUNDING * np.abs(every[np.isfinite(every)]).max(initial=0.0)
        return TileLimits(self.highest + slack, self.power, deepest - slack, self.later + slack)


def raise_bounds(bounds: Array, numbers: Any, values: Any) -> None:
    """Let no bound be below the values of its rows."""
    if isinstance(numbers, int):
        bounds[numbers] = max(float(bounds[numbers]), values)
    else:
        first = np.flatnonzero(np.diff(numbers, prepend=-1))  # rows of a tile are neighbours
        tiles = numbers[first]
        bounds[tiles] = np.maximum(bounds[tiles], np.maximum.reduceat(values, first))


def _images(tile: Any, columns: Array) -> Array:
    """Columns `(c, d)` times the rows of a tile `(n, d)`, `(c, n)`, by pieces that are quick.

    >>> _images(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[1.0, 3.0], [3.0, 7.0]]
    """
    image = np.empty((len(columns), len(tile)), tile.dtype)
    height = max(LEAST, WORK // max(columns.size, 1))
    for start in range(0, len(tile), height):
        part = slice(start, start + height)
        np.matmul(columns, tile[part].T, out=image[:, part])
    return image


def scan(kept: KeptForms, sights: list[Any], tiles: Any) -> None:
    """Let all sights see all tiles: `tiles(None)` gives first row, rows and candidates of each.

    A sight that sets too many rows aside is lost; if it is the first, the pass ends.
    """
    foremost = Foremost(kept.columns, kept.dtype)
    sights[0].foremost = foremost if sights[0].notes else None
    kept.scans += 1
    theta: list[Array] = []
    for sight in sights:
        if not any(np.array_equal(sight.theta, other) for other in theta):
            theta.append(sight.theta)
    own = [next(k for k, t in enumerate(theta) if np.array_equal(t, each.theta)) for each in sights]
    ends = np.cumsum([len(theta), *(len(each.moved.turn) for each in sights)])
    turned = [each.moved.columns for each in sights]
    whole = np.concatenate((np.stack(theta, axis=1), *turned), axis=1).T
    with np.errstate(over="ignore"):
        columns = whole[:, : kept.columns].astype(kept.dtype)
        constant = whole[:, kept.columns :].astype(kept.dtype)
    for start, tile, places in tiles(None):
        with np.errstate(over="ignore", invalid="ignore"):
            image = _images(tile, columns)
            if constant.size:
                image += constant
            if len(places) < len(tile):
                image = image[:, places]
            for place, sight in enumerate(sights):
                part = image[ends[place] : ends[place + 1]]
                sight.lost |= sight.after is not None and sight.after.lost
                if not sight.lost:
                    sight.add(start, tile, places, image[own[place]], part)
        if sights[0].lost:
            return
    for sight in sights:
        sight.refine()
    kept.foremost = foremost  # whole, or an interrupted pass would leave half of it
