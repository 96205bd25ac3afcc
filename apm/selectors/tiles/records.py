"""What is remembered of each tile of a pool, and the means and deviations that follow from it.

A tile has sixteen cells, runs of rows, and each lies in a ball (its mean c, the largest distance r
from it). At the last reading the rows of a cell had means and deviations of the channel input, of
which the least and the largest are kept. Under another belief with the differences d = mu - mu_0 and D = Sigma - Sigma_0, a row x = c + e with |e| <= r has

    x'mu      =  x'mu_0 + c'd + e'd                            |e'd| <= r |d|
    x'Sigma x =  x'Sigma_0 x + c'Dc + 2 e'Dc + e'De            |e'Dc| <= r |Dc|,  e'De <= r^2 lambda_1(D)

and by the ball alone |x'mu - c'mu| <= r |mu| and ||F'x| - |F'c|| <= r sqrt(lambda_1(Sigma)).
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from apm.pools.outlines import CELLS, outline, rounding
from channelcode._validation import Array

CLUSTERED = 0.5  # of a length: balls smaller than that tell tiles apart
MOST_CLOSED = 256  # rows of a tile that were no candidates at its last reading
MOST_BELIEFS = 12  # at which tiles were last read; those of the oldest keep their balls alone
PATIENCE, REST = 3, 8  # after three questions that no bound helped, one of eight tries again
ROUNDING = 1e-12  # of products in double precision, relative to the sizes of their factors


@dataclass(frozen=True, eq=False)
class Known:
    """Parameters at which inputs were found: theta `(q,)`, and F `(q, q)` if variances were too.

    `signed` is False where only the size of the inputs is known.
    """

    theta: Array
    factor: Array | None
    signed: bool = True


class Ranges(NamedTuple):
    """Least and largest |m| and s of the candidates of each cell, `(c,)` each; -inf where empty."""

    near: Array
    far: Array
    narrow: Array
    wide: Array


class TileRecords:
    """Balls and ranges of the cells of one pool."""

    def __init__(self, X: Any) -> None:
        tiles, columns = X.num_tiles, X.shape[1]
        cells, self.cells = tiles * CELLS, CELLS
        self.height = X.tile_rows // CELLS
        known = X.outlines
        self.centre = np.zeros((cells, columns), X.dtype) if known is None else known.centre
        self.radius = np.full(cells, np.inf) if known is None else known.radius
        self.norm = np.full(cells, np.inf) if known is None else known.norm
        self.range = np.full((cells, 4), np.nan)  # means from, to; deviations from, to
        self.at: list[Known | None] = [None] * tiles
        self.misses = self.resting = 0
        self._lock = Lock()  # two learners may ask about one pool
        self.beliefs: list[Known] = []
        self.closed: dict[int, Any] = {}
        self.unit, self.floor = rounding(columns, X.dtype)

    def read(self, number: int, start: int, tile: Any, places: Any, found: Any, at: Known) -> None:
        """Remember the inputs `found` (means, deviations) of the candidates of a tile."""
        with self._lock:
            self._read(number, start, tile, places, found, at)

    def _read(self, number: int, start: int, tile: Any, places: Any, found: Any, at: Known) -> None:
        cells = slice(number * CELLS, (number + 1) * CELLS)
        if not np.isfinite(self.norm[cells]).all():  # which is set last
            ball = outline(tile, self.height)
            self.centre[cells], self.radius[cells] = ball.centre, ball.radius
            self.norm[cells] = ball.norm
        self.at[number] = None
        closed = len(tile) - len(places)
        if closed > MOST_CLOSED:
            return
        if len(places) == CELLS * self.height:
            self.closed[number] = np.empty(0, dtype=np.intp)
            for place, each in enumerate(found):
                parts = each.reshape(CELLS, self.height)
                self.range[cells, 2 * place] = parts.min(axis=1)
                self.range[cells, 2 * place + 1] = parts.max(axis=1)
        else:
            every = np.full((2, CELLS * self.height), np.nan)
            every[:, places] = found
            self.closed[number] = start + np.flatnonzero(np.isnan(every[0, : len(tile)]))
            parts = every.reshape(2, CELLS, self.height)
            self.range[cells, ::2] = np.fmin.reduce(parts, axis=2).T
            self.range[cells, 1::2] = np.fmax.reduce(parts, axis=2).T
        self.at[number] = at
        if self.beliefs[-1:] != [at]:
            self.beliefs.append(at)
            self._forget()

    def _forget(self) -> None:
        """Leave out what was read too many beliefs ago."""
        while len(self.beliefs) > MOST_BELIEFS:
            oldest = self.beliefs.pop(0)
            self.at = [None if each is oldest else each for each in self.at]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def norm_of(self, number: int) -> float:
        """What no row of a tile is longer than."""
        return float(self.norm[number * CELLS : (number + 1) * CELLS].max())

    def rests(self) -> bool:
        """Whether to leave bounds out this time: they were of no use for some questions."""
        if self.misses < PATIENCE:
            return False
        self.resting = (self.resting + 1) % REST
        return self.resting != 0

    @property
    def complete(self) -> bool:
        """Whether every cell lies in a known ball, and the lengths of its rows are known."""
        return bool(np.isfinite(self.radius).all() and np.isfinite(self.norm).all())

    @property
    def clustered(self) -> bool:
        """Whether most rows are near the others of their cell, compared with their lengths."""
        return bool(np.median(self.radius) < CLUSTERED * np.median(self.norm))

    def ranges(self, now: Known, is_open: Any) -> Ranges:
        """Where the inputs of all candidates can lie under other parameters, as computed."""
        with self._lock:
            return self._ranges(now, is_open)

    def _ranges(self, now: Known, is_open: Any) -> Ranges:
        near, far, narrow, wide = self._by_ball(now)
        for known in self.beliefs:
            tiles = [
                number
                for number, each in enumerate(self.at)
                if each is known and not is_open[self.closed[number]].any()
            ]
            same = known.signed == now.signed and len(known.theta) == len(now.theta)
            if len(tiles) == 0 or not same:  # another learner's, of another kind
                continue
            cells = (np.array(tiles)[:, None] * CELLS + np.arange(CELLS)).ravel()
            moved = self._moved(known, now, cells)
            near[cells] = np.maximum(near[cells], moved.near)
            far[cells] = np.minimum(far[cells], moved.far)
            narrow[cells] = np.maximum(narrow[cells], moved.narrow)
            wide[cells] = np.minimum(wide[cells], moved.wide)
        return Ranges(near, far, narrow, wide)

    def _design(self, theta: Array, cells: Any) -> Array:
        centre = self.centre[cells].astype(np.float64)
        if len(theta) == centre.shape[1]:
            return centre
        return np.concatenate((centre, np.ones((len(centre), 1))), axis=1)

    def slack(self, known: Known, cells: Any) -> tuple[Array, Array]:
        """What rounding can do to means and deviations of the rows of these cells."""
        length = np.sqrt(np.square(self.norm[cells]) + 1.0)
        spread = 0.0 if known.factor is None else float(np.linalg.norm(known.factor))
        unit = 2.0 * self.unit * length
        return unit * float(np.linalg.norm(known.theta)) + self.floor, unit * spread + self.floor

    def _by_ball(self, now: Known) -> tuple[Array, Array, Array, Array]:
        every = slice(None)
        design, radius, columns = self._design(now.theta, every), self.radius, self.centre.shape[1]
        off, blur = self.slack(now, every)
        centre = design @ now.theta
        reach = radius * float(np.linalg.norm(now.theta[:columns])) + off
        near, far = _sizes(centre - reach, centre + reach)
        if now.factor is None:
            return near, far, np.zeros(len(near)), np.full(len(near), np.inf)
        image = design @ now.factor
        length = np.sqrt(np.vecdot(image, image))
        reach = radius * float(np.linalg.norm(now.factor[:columns], 2)) + blur
        return near, far, np.maximum(length - reach, 0.0), length + reach

    def _moved(self, known: Known, now: Known, cells: Any) -> Ranges:
        columns, radius = self.centre.shape[1], self.radius[cells]
        design = self._design(now.theta, cells)
        low, high, narrow, wide = self.range[cells].T
        (off, blur), (more, own) = self.slack(known, cells), self.slack(now, cells)
        step = now.theta - known.theta
        shift = design @ step
        reach = radius * float(np.linalg.norm(step[:columns])) + off + more
        if known.signed:
            near, far = _sizes(low + shift - reach, high + shift + reach)
        else:
            near, far = np.maximum(low - reach - np.abs(shift), 0.0), high + reach + np.abs(shift)
        narrowest, widest = np.zeros(len(near)), np.full(len(near), np.inf)
        if known.factor is not None and now.factor is not None:
            up, down = self._change(known.factor, now.factor, cells, design)
            widest = np.sqrt(np.maximum(np.square(wide + blur) + up, 0.0)) + own
            narrowest = np.square(np.maximum(narrow - blur, 0.0)) + down
            narrowest = np.maximum(np.sqrt(np.maximum(narrowest, 0.0)) - own, 0.0)
        empty = np.isnan(low)  # a cell without candidates
        return Ranges(
            np.where(empty, np.inf, near), np.where(empty, -np.inf, far),
            np.where(empty, np.inf, narrowest), np.where(empty, -np.inf, widest),
        )  # fmt: skip

    def _change(self, first: Array, then: Array, cells: Any, design: Array) -> tuple[Array, Array]:
        """The largest and the least x'Dx over the balls of the cells, `D = F F' - F_0 F_0'`."""
        columns, radius = self.centre.shape[1], self.radius[cells]
        form = then @ then.T - first @ first.T
        image = design @ form
        along = np.vecdot(image, design)
        inner = image[:, :columns]
        aside = 2.0 * radius * np.sqrt(np.vecdot(inner, inner))
        ends = np.linalg.eigvalsh(form[:columns, :columns])[[0, -1]]
        least, most = np.linalg.eigvalsh(form)[[0, -1]]
        length = np.square(self.norm[cells]) + 1.0
        rest = ROUNDING * length * (np.sum(np.square(first)) + np.sum(np.square(then)))
        up = along + aside + np.square(radius) * max(ends[1], 0.0)
        down = along - aside + np.square(radius) * min(ends[0], 0.0)
        up = np.minimum(up, max(most, 0.0) * length)
        down = np.maximum(down, min(least, 0.0) * length)
        return up + rest, down - rest


def _sizes(low: Array, high: Array) -> tuple[Array, Array]:
    """The least and the largest size of a number between these."""
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(high, -low)
