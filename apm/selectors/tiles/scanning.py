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

from apm.pools.outlines import LEVELS
from apm.posteriors.covariances.products import times
from apm.power import PoolMaxPower, SharePower, SignalPower, VariancePower
from apm.selectors.tiles.descent import TileLimits
from apm.selectors.tiles.foremost import Foremost
from apm.selectors.tiles.kept_forms import Forms, KeptForms, Moved
from apm.selectors.tiles.records import Ranges
from channelcode._validation import Array

ROUNDING = 1e-12  # of a score in double precision, relative to the largest
KNOTS = np.array([0.99999, 1.01, 1.6])  # of the root of the budget that is foretold
COLUMNS = 15  # products that a pass spends on changes of forms, for each belief
TOGETHER = 4096  # rows that are set aside before they are multiplied
MOST = 0.2  # of all rows: if more are set aside, a pass by all products costs no more
STALE = 0.04  # if that many were, the next question takes such a pass
LOOSE = 0.02  # if that many were, the next question spends more products
CLOSE = 64  # rows of those set aside whose scores are bounded from both sides
AMONG = 16  # best rows of which the next row of a batch is likely one
NEAR = 1e-9  # of a score: rows this near to the second best are set aside
# Products of a piece of rows with few columns: a larger one takes twice as long for each row.
WORK, LEAST = 1 << 19, 16

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
        values = None
        if self.kept.knows(start, places):
            values = self._looked(start, places, mean, image)
        if values is None or not np.isfinite(self.power[number]):
            self.power[number] = np.inf
            self._unknown(number)
            return
        if self.foremost is not None:
            self.foremost.best.add(start, tile, places, values[0])
            self.foremost.strongest.add(start, tile, places, values[-1])
        some = (values[0] >= self.enough).nonzero()[0]
        if len(some):
            self.aside.append((number, tile[places[some]]))
            self.waiting += len(some)
            for each in values:
                each[some] = -np.inf
            if self.waiting > TOGETHER:
                self.refine()
                self.lost = self.refined > MOST * self.seen + max(self.first, TOGETHER)
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
    def _take(self, numbers: Any, values: list[Array]) -> None:
        """Raise the bounds of the tiles `numbers`, one or one of each row, by those of rows."""


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

    def _take(self, numbers: Any, values: list[Array]) -> None:
        for bounds, each in zip((self.highest, self.later), values, strict=True):
            _raise(bounds, numbers, each)

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


class LineSight(Sight):
    """APM at a budget over the pool: scores are lines in its root, bounded at some knots.

    `A + sqrt(P) B` with `A = -k^2 (m^2 + S)`, `B = 2 c k sqrt(S)`, `k^2 = 1 / (1 + b (V - S))`. The
    highest of many lines is convex, so between two knots it is below the chord. `guess` is the
    budget that is expected. A sight `after` another, of the belief before the last pick of a batch,
    goes on from its ranges, by few products more.
    """

    notes = True

    def __init__(
        self,
        lines: Any,
        kept: KeptForms,
        guess: float,
        most: int,
        after: LineSight | None = None,
    ) -> None:
        before = None if after is None else after.moved
        super().__init__(kept, lines.posterior, lines.forms, most, before)
        self.after, self.followed = after, False
        if after is not None:
            after.followed = True
        # of the forms in the last tile, for the sight that follows
        self.ranges: dict[int, Any] = {}
        self.roots = np.sqrt(guess) * KNOTS
        self.rule = lines.rule
        tiles = len(self.power)
        self.at = np.full((tiles, len(KNOTS)), -np.inf)
        self.amount = np.full(tiles, -np.inf)
        self.deepest = 0.0

    def _unknown(self, number: int) -> None:
        self.at[number] = self.amount[number] = np.inf
        self.deepest = -np.inf

    def _looked(self, start: int, places: Any, mean: Array, image: Array) -> list[Array] | None:
        from apm._kernels.kept_bounds import line_scores, range_scores

        number = start // self.kept.height
        error = self.off * float(self.kept.length[number]) + self.kept.floor
        roots = tuple(self.roots)
        if self.after is None and not self.followed:
            change = self.moved.changes(image)
            if change is None:
                return None
            codes, numbers, blur = self.moved.steps(start, places)
            # where all of an input is signal, S is V
            values = line_scores(
                codes[0], codes[-1], change[0], change[-1], mean, error, numbers[0], numbers[-1],
                blur, self.rule, roots,
            )  # fmt: skip
            ends, gauge = [], 0.0  # by the largest step and change
            for form, (low, step, slack, factor, _, rise, _, up) in enumerate(numbers):
                then = low + LEVELS * step + slack
                most = factor * then + float(change[form].max()) + rise * gauge + up
                ends.append(max(most, 0.0))
                gauge = then + blur
        else:
            if self.after is None:
                found = self.moved.ranges(start, places, image)
            else:  # None where nothing is known of this tile
                found = self.moved.onward(number, self.after.ranges.pop(number, None), image)
            if found is None:
                return None
            forms = *found[0], *found[-1]
            values = range_scores(mean, error, *forms, self.rule, roots)
            ends = [float(most.max()) for _, most in found]
            if self.followed:
                self.ranges = {number: found}
        far = max(float(mean.max()), -float(mean.min())) + error
        # what no row of the tile exceeds
        self.power[number] = (far**2 + ends[0]) * (1.0 + ROUNDING)
        self.deepest = min(self.deepest, -(far**2 + ends[-1]) * (1.0 + ROUNDING))
        return list(values)

    def _bounded(self, length: Any, size: Array, error: Any, forms: Any) -> list[Array]:
        from apm._kernels.kept_bounds import line_bounds

        (least, most), (weak, strong) = forms if len(forms) == 2 else (forms[0], forms[0])
        height, slope, amount, square = line_bounds(
            size, error, least, most, weak, strong, self.rule
        )
        deep = float((square + strong).max())
        self.deepest = min(self.deepest, -deep * (1.0 + ROUNDING))
        return [*(height + root * slope for root in self.roots), amount]

    def _take(self, numbers: Any, values: list[Array]) -> None:
        *at, amount = values
        _raise(self.amount, numbers, amount)
        for place, each in enumerate(at):
            _raise(self.at[:, place], numbers, each)

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
        first = np.flatnonzero(np.diff(numbers, prepend=-1))  # rows of a tile are neighbours
        tiles = numbers[first]
        bounds[tiles] = np.maximum(bounds[tiles], np.maximum.reduceat(values, first))


def _images(tile: Any, columns: Array) -> Array:
    """Columns `(c, d)` times the rows of a tile `(n, d)`, `(c, n)`, by pieces that are quick.

    >>> _images(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[1.0, 3.0], [3.0, 7.0]]
    """
    right = np.ascontiguousarray(columns.T)
    image = np.empty((len(columns), len(tile)), tile.dtype)
    height = max(LEAST, WORK // max(right.size, 1))
    for start in range(0, len(tile), height):
        part = slice(start, start + height)
        image[:, part] = (tile[part] @ right).T
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
