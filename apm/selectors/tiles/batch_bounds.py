"""Which tiles the later rows of a batch can come from: upper bounds found at the first pass.

Asking a row leaves the means and shrinks the variances of all inputs (`apm.selectors.batch`), and
B^2 lambda_1 shrinks with them. With c = max E<Z, T> / sqrt(P), the score of APM without its
constant is `-mu^2 + s (2 c sqrt(P) - s)`, which rises with s up to `c sqrt(P)`. So after any
further row of the batch it is at most what it was, or `-mu^2 + c^2 P` where s was beyond that.
Information gain through the logistic channel falls with the variance, and so does the variance
itself: they are at most what they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.posteriors import VariationalLogistic
from apm.selectors.ranking import tie
from apm.selectors.tiles.leaders import Leaders
from apm.selectors.tiles.pruning import (
    INTEGRAL,
    ROUNDING,
    Matched,
    Reach,
    Telling,
    Widest,
    gaussian_of,
    reach_of,
)
from apm.selectors.tiles.records import Ranges
from channelcode._numerics.logspace import LOG_TWO
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector


LOSS = 0.25 / LOG_TWO  # bits: dI/dv <= 1/8 and v dI/dv < 1/4 nats, on a grid


class TileBounds:
    """Upper bounds on the scores of each tile while a batch grows; `of` gives None if unknown."""

    def __init__(self, reach: Reach, blur: float, off: float, X: Any) -> None:
        self.reach, self.blur, self.off, self.X = reach, blur, off, X
        self.bounds: dict[int, float] = {}
        self.largest = 0.0

    @classmethod
    def of(cls, rule: Selector, belief: Belief, X: Any) -> TileBounds | None:
        """Bounds for APM as the paper has it, variance and information, on rows read anywhere."""
        posterior = gaussian_of(belief, X)
        if type(posterior) is not VariationalLogistic:
            return None
        reach = reach_of(rule, belief, X)
        if not isinstance(reach, Telling | Matched | Widest):
            return None
        # what rounding can do to |F'x| and x'mu where |x| = 1, by the usual bound
        unit = float(np.finfo(X.dtype).eps) * (2 * X.shape[1] + 8)
        blur, off = (float(np.linalg.norm(each)) for each in (posterior.factor, posterior.mean))
        return cls(reach, unit * blur, unit * off, X)

    @property
    def slack(self) -> float:
        """What rounding can do to a score beyond that of its mean and deviation."""
        if isinstance(self.reach, Telling):
            return INTEGRAL
        root = self.reach.root if isinstance(self.reach, Matched) else 0.0
        return ROUNDING * (root**2 + self.largest)

    @property
    def deepest(self) -> float:
        """What no score of the batch is below: variances and gains are not negative."""
        falls = self.largest * 1.001 if isinstance(self.reach, Matched) else 0.0
        return -(falls + self.slack)

    def add(self, start: int, rating: Rating) -> None:
        """Take in the scores of the tile that begins at row `start`."""
        laws: Any = rating.laws
        if not isinstance(laws, ScalarPool) or self.X.records is None:
            self.bounds[start] = np.inf
            return
        length = float(np.hypot(self.X.records.norm_of(start // self.X.tile_rows), 1.0))
        deviation, blur = np.sqrt(laws.variance), 2.0 * self.blur * length
        self.largest = max(self.largest, float(laws.second_moment.max()))
        if isinstance(self.reach, Telling):  # by the integrals that there are
            more = blur * (2.0 * deviation + blur) / np.maximum(laws.variance, 1.0)
            self.bounds[start] = float((rating.values + LOSS * more).max())
            return
        size = np.abs(laws.mean)
        ranges = Ranges(size, size, deviation, deviation)
        bound = self.reach.while_asked(ranges, 2.0 * self.off * length, blur)
        self.bounds[start] = float(bound.max())

    def taken(self, held: Leaders) -> TileBounds | None:
        """These bounds from a pass that left tiles unread; None if it has none."""
        if held.later is None or held.largest_power is None:
            return None
        self.largest = held.largest_power
        height = self.X.tile_rows
        self.bounds = {place * height: float(bound) for place, bound in enumerate(held.later)}
        return self

    def pick(self, rate: Any, height: int) -> int | None:
        """The best row now, reading only tiles that can hold it; None if ties leave it open.

        `rate(number)` gives the rows of the candidates of a tile and their rating, or None.
        """
        top, lowest, near_by = -np.inf, np.inf, 0.0
        deepest = self.deepest
        found: list[tuple[Any, Any]] = []
        for start in sorted(self.bounds, key=lambda each: (-self.bounds[each], each)):
            enough = top - tie(top, deepest, near_by)
            if np.isfinite(top) and self.bounds[start] + self.slack < enough:
                break
            scored = rate(start // height)
            if scored is None:
                continue
            rows, rating = scored
            near_by = max(near_by, rating.resolution)
            top = max(top, float(rating.values.max()))
            lowest = min(lowest, float(rating.values.min()))
            near = rating.values >= top - tie(top, deepest, near_by)
            found.append((rows[near], rating.values[near]))
        if not np.isfinite(top) or lowest < deepest:
            return None
        rows, values = (np.concatenate(parts) for parts in zip(*found))
        first = [
            int(rows[values >= top - tie(top, low, near_by)].min(initial=np.iinfo(np.intp).max))
            for low in (lowest, deepest)
        ]
        return first[0] if first[0] == first[1] else None
