"""A pass that bounds the scores of all rows by few products, and so tells which tiles matter.

Kept forms say within a hundredth where the variance of an input is, and its signal (`Moved`). With
the mean, one product more, they bound the score of every row; tiles are then read and scored as
ever from the highest bound down. The same pass can look at several beliefs: those that a batch is
foretold to go through (`apm.selectors.tiles.foresight`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from apm.posteriors.covariances.products import times
from apm.power import PoolMaxPower, SharePower, SignalPower, VariancePower
from apm.selectors.tiles.descent import TileLimits
from apm.selectors.tiles.foremost import Foremost
from apm.selectors.tiles.kept_forms import Forms, KeptForms, Moved
from apm.selectors.tiles.records import Ranges
from channelcode._validation import Array

ROUNDING = 1e-12  # of a score in double precision, relative to the largest
KNOTS = np.array([0.999, 1.01, 1.6])  # of the root of the budget that is foretold
COLUMNS = 15  # products that a pass spends on changes of forms, for each belief
TOGETHER = 4096  # rows that are set aside before they are multiplied
MOST = 0.2  # of all rows: if more are set aside, a pass by all products costs no more
STALE = 0.04  # if that many were, the next question takes such a pass

#: Amount of a policy: (r_0 + r_1 k^2) (r_2 m^2 + r_3 S + r_4 V), the largest of all rows.
POWERS: dict[type, tuple[float, ...]] = {
    PoolMaxPower: (0.0, 1.0, 1.0, 1.0, 0.0),
    SignalPower: (0.0, 1.0, 0.0, 1.0, 0.0),
    SharePower: (1.0, 0.0, 0.0, 1.0, 0.0),
    VariancePower: (1.0, 0.0, 0.0, 0.0, 1.0),
}


class Sight(ABC):
    """What a pass keeps of the scores of each tile, under one belief.

    Rows whose bound reaches `enough`, a guess at what the best must reach, are set aside and
    multiplied by all of the forms, some thousand at a time.
    """

    def __init__(self, kept: KeptForms, posterior: Any, forms: Forms, most: int) -> None:
        self.kept, self.moved = kept, Moved(kept, forms, most)
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
        power = np.inf
        if self.kept.knows(start, places):
            size, length = np.abs(mean, dtype=np.float64), float(self.kept.length[number])
            error = np.full(len(size), self.off * length + self.kept.floor)
            forms = self.moved.ranges(start, places, image)
            if forms is not None:
                power = (float(size.max()) + error[0]) ** 2 + float(forms[0][1].max())
                power *= 1.0 + ROUNDING
        self.power[number] = power if np.isfinite(power) else np.inf
        if not np.isfinite(power):
            self._unknown(number)
            return
        values = self._bounded(length, size, error, forms)
        if self.foremost is not None:
            self.foremost.best.add(start, tile, places, values[0])
            self.foremost.strongest.add(start, tile, places, values[-1])
        some = np.flatnonzero(values[0] >= self.enough)
        if len(some):
            self.aside.append((number, tile[places[some]]))
            self.waiting += len(some)
            for each in values:
                each[some] = -np.inf
            if self.waiting > TOGETHER:
                self.refine()
                self.lost = self.refined > MOST * self.seen + TOGETHER
        self._take(number, values)

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
        return self.lost or self.refined > STALE * self.seen

    @abstractmethod
    def _unknown(self, number: int) -> None:
        """Bound a tile of which nothing is known."""

    @abstractmethod
    def _bounded(self, length: Any, size: Array, error: Array, forms: Any) -> list[Array]:
        """Bounds on rows no longer than `length`, by |m| up to an error and ranges of the forms.

        The first is compared with `enough`; by the last rows are known that may set a budget.
        """

    @abstractmethod
    def _take(self, numbers: Any, values: list[Array]) -> None:
        """Raise the bounds of the tiles `numbers`, one or one of each row, by those of rows."""


class PlainSight(Sight):
    """A rule whose bounds follow from |m| and s (`apm.selectors.tiles.pruning.Reach`)."""

    def __init__(self, reach: Any, kept: KeptForms, posterior: Any, forms: Forms) -> None:
        super().__init__(kept, posterior, forms, COLUMNS)
        self.reach = reach
        self.highest = np.full(len(self.power), -np.inf)
        self.later, self.deepest = self.highest.copy(), np.inf
        self.blur = 2.0 * kept.unit * self.moved.now.sizes[0][1]

    def _unknown(self, number: int) -> None:
        self.highest[number] = self.later[number] = np.inf
        self.deepest = -np.inf

    def _bounded(self, length: Any, size: Array, error: Array, forms: Any) -> list[Array]:
        ((low, high),) = forms
        near, far = np.maximum(size - error, 0.0), size + error
        ranges = Ranges(near, far, np.sqrt(low), np.sqrt(high))
        ends = (near.min(), far.max(), ranges.narrow.min(), ranges.wide.max())
        lowest = float(self.reach.lowest(Ranges(*(np.array([end]) for end in ends)))[0])
        self.deepest = min(self.deepest, lowest - ROUNDING * abs(lowest))
        off, blur = self.off * length, self.blur * length + self.kept.floor
        return [self.reach.highest(ranges), self.reach.while_asked(ranges, off, blur)]

    def _take(self, numbers: Any, values: list[Array]) -> None:
        for bounds, each in zip((self.highest, self.later), values, strict=True):
            _raise(bounds, numbers, each)

    @property
    def limits(self) -> TileLimits:
        """The bounds of all tiles."""
        every = np.concatenate((self.highest, self.later, [self.deepest]))
        slack = ROUNDING * np.abs(every[np.isfinite(every)]).max(initial=0.0)
        return TileLimits(self.highest + slack, self.power, self.deepest, self.later + slack)


class LineSight(Sight):
    """APM at a budget over the pool: scores are lines in its root, bounded at some knots.

    `A + sqrt(P) B` with `A = -k^2 (m^2 + S)`, `B = 2 c k sqrt(S)`, `k^2 = 1 / (1 + b (V - S))`. The
    highest of many lines is convex, so between two knots it is below the chord. `guess` is the
    budget that is expected.
    """

    def __init__(self, lines: Any, kept: KeptForms, guess: float, most: int) -> None:
        super().__init__(kept, lines.posterior, lines.forms, most)
        self.roots = np.sqrt(guess) * KNOTS
        charged = float(lines.charged)
        self.rule = np.array((lines.bend, 2.0 * lines.correlation, charged, *lines.amount))
        tiles = len(self.power)
        self.at = np.full((tiles, len(KNOTS)), -np.inf)
        self.amount = np.full(tiles, -np.inf)
        self.deepest = 0.0

    def _unknown(self, number: int) -> None:
        self.at[number] = self.amount[number] = np.inf
        self.deepest = -np.inf

    def _bounded(self, length: Any, size: Array, error: Array, forms: Any) -> list[Array]:
        from apm._kernels.kept_bounds import line_bounds

        (least, most), (weak, strong) = forms if len(forms) == 2 else (forms[0], forms[0])
        found = line_bounds(size, error, least, most, weak, strong, self.rule)
        height, slope, amount, square = found
        deep = float((square + strong).max())
        self.deepest = min(self.deepest, -deep * (1.0 + ROUNDING))
        return [height + self.roots[0] * slope, height, slope, amount]

    def _take(self, numbers: Any, values: list[Array]) -> None:
        first, height, slope, amount = values
        _raise(self.amount, numbers, amount)
        _raise(self.at[:, 0], numbers, first)
        for place in range(1, len(self.roots)):
            _raise(self.at[:, place], numbers, height + self.roots[place] * slope)

    def limits(self, power: float) -> TileLimits | None:
        """The bounds of all tiles at a budget; None beyond the knots, or with an unknown tile.

        Beside a tile whose scores may be as low as can be, every score may be a tie.
        """
        root, knots = float(np.sqrt(power)), self.roots
        place = int(np.searchsorted(knots, root)) - 1
        if not (knots[0] < root <= knots[-1]) or not np.isfinite(self.deepest):
            return None
        share = (root - knots[place]) / (knots[place + 1] - knots[place])
        ends = self.at[:, place : place + 2]
        finite = np.isfinite(ends).all(axis=1)  # others have no candidates
        highest = ends.max(axis=1)
        highest[finite] = ends[finite] @ (1.0 - share, share)
        largest = float(np.abs(highest[np.isfinite(highest)]).max(initial=0.0))
        slack = ROUNDING * max(largest, -self.deepest)
        return TileLimits(highest + slack, self.power, self.deepest)


def _raise(bounds: Array, numbers: Any, values: Array) -> None:
    """Let no bound be below the values of its rows."""
    if isinstance(numbers, int):
        bounds[numbers] = max(float(bounds[numbers]), float(values.max()))
    else:
        np.maximum.at(bounds, numbers, values)


def scan(kept: KeptForms, sights: list[Any], tiles: Any) -> None:
    """Let all sights see all tiles: `tiles(None)` gives first row, rows and candidates of each.

    A sight that sets too many rows aside is lost; if it is the first, the pass ends.
    """
    foremost = sights[0].foremost = Foremost(kept.columns, kept.dtype)
    kept.scans += 1
    theta: list[Array] = []
    for sight in sights:
        if not any(np.array_equal(sight.theta, other) for other in theta):
            theta.append(sight.theta)
    own = [next(k for k, t in enumerate(theta) if np.array_equal(t, each.theta)) for each in sights]
    ends = np.cumsum([len(theta), *(len(each.moved.turn) for each in sights)])
    turned = [each.moved.columns for each in sights]
    columns = np.concatenate((np.stack(theta, axis=1), *turned), axis=1)
    for start, tile, places in tiles(None):
        with np.errstate(over="ignore", invalid="ignore"):
            image = columns[: tile.shape[1]].T.astype(tile.dtype) @ tile.T
            if len(columns) > tile.shape[1]:
                image += columns[tile.shape[1] :].T.astype(tile.dtype)
            if len(places) < len(tile):
                image = image[:, places]
            for place, sight in enumerate(sights):
                part = image[ends[place] : ends[place + 1]]
                if not sight.lost:
                    sight.add(start, tile, places, image[own[place]], part)
        if sights[0].lost:
            return
    for sight in sights:
        sight.refine()
    kept.foremost = foremost  # whole, or an interrupted pass would leave half of it
