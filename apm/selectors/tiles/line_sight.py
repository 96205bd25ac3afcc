"""A sight of APM at a budget over the pool, whose scores are lines in the root of the budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.pools.outlines import LEVELS
from apm.power import PoolMaxPower, SharePower, SignalPower, VariancePower
from apm.selectors.tiles.descent import TileLimits
from apm.selectors.tiles.kept_forms import KeptForms
from apm.selectors.tiles.scanning import ROUNDING, Glance, Sight, raise_bounds
from channelcode._validation import Array

KNOTS = np.array([0.99999, 1.01, 1.6])  # of the root of the budget that is foretold

#: Amount of a policy: (r_0 + r_1 k^2) (r_2 m^2 + r_3 S + r_4 V), the largest of all rows.
POWERS: dict[type, tuple[float, ...]] = {
    PoolMaxPower: (0.0, 1.0, 1.0, 1.0, 0.0),
    SignalPower: (0.0, 1.0, 0.0, 1.0, 0.0),
    SharePower: (1.0, 0.0, 0.0, 1.0, 0.0),
    VariancePower: (1.0, 0.0, 0.0, 0.0, 1.0),
}


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
        # by how much a product turns V, and S
        self.both = np.ascontiguousarray(self.moved.turn[:, [0, -1]])
        self.at = np.full((tiles, len(KNOTS)), -np.inf)
        self.amount = np.full(tiles, -np.inf)
        self.deepest = 0.0

    def _unknown(self, number: int) -> None:
        self.at[number] = self.amount[number] = np.inf
        self.deepest = -np.inf

    def _glanced(self, start: int, places: Any, mean: Array, image: Array) -> Glance | None:
        if self.after is not None or self.followed:  # the ranges of all rows are needed
            return super()._glanced(start, places, mean, image)
        from apm._kernels.line_tiles import line_tile

        number = start // self.kept.height
        error = self.off * float(self.kept.length[number]) + self.kept.floor
        codes, numbers, blur = self.moved.steps(start, places)
        # where all of an input is signal, S is V
        rows, values, largest = line_tile(
            codes[0], codes[-1], self.both, image, mean, error, numbers[0], numbers[-1],
            blur, self.rule, tuple(self.roots.tolist()), (self.enough, *self._standing),
        )  # fmt: skip
        *others, change, turned, size = largest.tolist()
        if not np.isfinite(size):
            return None
        ends, gauge = [], 0.0  # by the largest step and change
        for part, (low, step, slack, factor, _, rise, _, up) in zip((change, turned), numbers):
            then = low + LEVELS * step + slack
            ends.append(max(factor * then + part + rise * gauge + up, 0.0))
            gauge = then + blur
        self._reach(number, size + error, ends)
        return Glance(rows, list(values), others)

    def _looked(self, start: int, places: Any, mean: Array, image: Array) -> list[Array] | None:
        from apm._kernels.kept_bounds import range_scores

        number = start // self.kept.height
        error = self.off * float(self.kept.length[number]) + self.kept.floor
        if self.after is None:
            found = self.moved.ranges(start, places, image)
        else:  # None where nothing is known of this tile
            found = self.moved.onward(number, self.after.ranges.pop(number, None), image)
        if found is None:
            return None
        forms = *found[0], *found[-1]
        values = range_scores(mean, error, *forms, self.rule, tuple(self.roots))
        ends = [float(most.max()) for _, most in found]
        if self.followed:
            self.ranges = {number: found}
        self._reach(number, max(float(mean.max()), -float(mean.min())) + error, ends)
        return list(values)

    def _reach(self, number: int, far: float, ends: list[float]) -> None:
        """Take in what no |m| of a tile exceeds, and none of its forms."""
        self.power[number] = (far**2 + ends[0]) * (1.0 + ROUNDING)
        self.deepest = min(self.deepest, -(far**2 + ends[-1]) * (1.0 + ROUNDING))

    def _bounded(self, length: Any, size: Array, error: Any, forms: Any) -> list[Array]:
        from apm._kernels.kept_bounds import line_bounds

        (least, most), (weak, strong) = forms if len(forms) == 2 else (forms[0], forms[0])
        height, slope, amount, square = line_bounds(
            size, error, least, most, weak, strong, self.rule
        )
        deep = float((square + strong).max())
        self.deepest = min(self.deepest, -deep * (1.0 + ROUNDING))
        return [*(height + root * slope for root in self.roots), amount]

    def _take(self, numbers: Any, values: list[Any]) -> None:
        *at, amount = values
        raise_bounds(self.amount, numbers, amount)
        for place, each in enumerate(at):
            raise_bounds(self.at[:, place], numbers, each)

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
