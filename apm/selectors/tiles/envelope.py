"""One pass for a budget over the pool: the rows that can lead, whatever the budget turns out to be.

Where the target is known by theorem, the score of a row is a line in the root of the budget,

    value(P) = A + sqrt(P) B,

and the rows that lead at some P are the upper envelope of all lines. The first tile says where P
is about; as more rows come it can only rise (or only fall). A row is dropped if two others are
above it at both ends of each step of that range, since lines that are above at both ends are above
between them. If P leaves the range at last, or too many rows are left, the pool is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from apm.selectors.ranking import Indices, tie
from apm.selectors.tiles.leaders import Leaders
from channelcode._validation import Array
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.belief import Belief
    from apm.selectors.matching.looks import Look

STEPS = np.array([1.0, 1.1, 1.3, 2.0, 8.0])  # of sqrt(P), from that of the first tile on
SLACK = 1e-9  # of the largest score: more than ties and the rounding of a line, which is checked
ROUNDING = 64 * float(np.finfo(np.float64).eps)
MOST_ROWS = 1 << 17


class Envelope:
    """The lines of a pass that can lead, or be the lowest, at a budget that is not known yet."""

    def __init__(
        self, selector: Any, belief: Belief, X: Any, kept: Any = None, rule: Any = None
    ) -> None:
        self.selector, self.belief, self.X, self.forms = selector, belief, X, kept
        self.rule = rule  # of lines that a formula gives
        self.rises = selector.power.joined([1.0, 2.0]) == 2.0
        self.amounts: list[float] = []
        self.count, self.largest_power = 0, 0.0
        self.sums = np.zeros(2)
        self.scale, self.slack = 0.0, np.inf
        self.knots: Array | None = None
        self.best: Any = None  # A and B of the two best at each knot, `(k, 2)` each
        self.worst: Any = None  # and of the lowest, `(k,)` each
        self.kept: list[tuple[Array, ...]] = []
        self.failed = False

    def add(self, start: int, tile: Any, places: Indices) -> None:
        """Look at the candidates of a tile, and keep those that can matter."""
        ready = self.selector
        look: Look | None = ready.look(self.belief, tile, places)
        lines = None if look is None else self._lines(look, tile)
        if look is None or lines is None:
            self.failed = True
            return
        height, slope, strength = lines
        self.sums += height.sum(), slope.sum()
        self.count += len(places)
        self.largest_power = max(self.largest_power, float(look.laws.second_moment.max()))
        if self.knots is None and not self._begin():
            return
        rows = start + places
        laws: Any = look.laws
        share = look.share
        if self.forms is not None:
            value = height + self.knots[0] * slope  # type: ignore[index]
            self._keep(start, tile, places, look, value, strength)
        self._sift(rows, laws.mean, laws.variance, share, height, slope)

    def _lines(self, look: Look, tile: Any) -> tuple[Array, Array, Array] | None:
        """A and B, and by what a row may set the budget, `(n,)` each; takes in that of the tile.

        The budget must be that of memory to the last bit, but only where a tile can set it.
        """
        ready, laws = self.selector, look.laws
        if self.rule is None or not isinstance(laws, ScalarPool):
            found = look.lines(ready)
            self.amounts.append(look.budget(ready, self.belief, tile))
            return None if found is None else (*found, look.seen.laws.second_moment)
        from apm._kernels.kept_bounds import line_bounds

        size, variance = np.abs(laws.mean), laws.variance
        signal = look.share * variance
        forms = variance, variance, signal, signal
        height, slope, amount, _ = line_bounds(size, np.zeros(len(size)), *forms, self.rule)
        if not float(amount.max()) * (1.0 + SLACK) < max(self.amounts, default=-np.inf):
            self.amounts.append(look.budget(ready, self.belief, tile))
        return height, slope, amount

    def _keep(
        self, start: int, tile: Any, places: Indices, look: Look, values: Array, strength: Array
    ) -> None:
        variance = look.laws.total_variance
        signal = (look.share * variance,) if len(self.forms.forms.matrices) == 2 else ()
        self.forms.add(start, tile, places, (variance, *signal))
        self.forms.foremost.best.add(start, tile, places, values)
        self.forms.foremost.strongest.add(start, tile, places, strength)

    def _begin(self) -> bool:
        root = float(np.sqrt(self.amounts[0]))
        self.knots = root * STEPS if self.rises else root / STEPS[::-1]
        self.failed = not (self.knots[0] > 0 and np.isfinite(self.knots[-1]))
        return not self.failed

    def _sift(self, *columns: Any) -> None:
        height, slope = columns[-2:]
        knots: Any = self.knots
        at = height + knots[:, None] * slope
        peak, low = at.max(axis=1), at.min(axis=1)
        self.scale = max(self.scale, float(peak.max()), -float(low.min()))
        if not np.isfinite(self.scale):
            self.failed = True
            return
        slack = SLACK * self.scale
        if self.best is not None:
            top, bottom = self._edges(slack)
            if (peak < top).all() and (low > bottom).all():
                return
        self._improve(at, height, slope)
        top, bottom = self._edges(slack)
        self.slack = min(self.slack, slack)
        matters = ((at >= top[:, None]) | (at <= bottom[:, None])).any(axis=0)
        self.kept.append(tuple(np.asarray(each)[matters] for each in columns))
        if sum(len(part[0]) for part in self.kept) > MOST_ROWS:
            joined = [np.concatenate(each) for each in zip(*self.kept)]
            at = joined[-2] + knots[:, None] * joined[-1]
            matters = ((at >= top[:, None]) | (at <= bottom[:, None])).any(axis=0)
            self.kept = [tuple(each[matters] for each in joined)]
            self.failed = len(self.kept[0][0]) > MOST_ROWS // 2

    def _edges(self, slack: float) -> tuple[Array, Array]:
        """At each knot: what a row must reach to lead, and what it must not pass to be lowest."""
        knots: Any = self.knots
        (height, slope), (depth, fall) = self.best, self.worst
        top = (height + knots[:, None] * slope).min(axis=1)
        ahead = (height[:-1] + knots[1:, None] * slope[:-1]).min(axis=1)
        top[1:] = np.minimum(top[1:], ahead)
        bottom = depth + knots * fall
        bottom[1:] = np.maximum(bottom[1:], depth[:-1] + knots[1:] * fall[:-1])
        return top - slack, bottom + slack

    def _improve(self, at: Array, height: Array, slope: Array) -> None:
        """Let better lines take the place of those that others are compared with."""
        lowest, first = at.argmin(axis=1), at.argmax(axis=1)
        rest = at.copy()
        rest[np.arange(len(at)), first] = -np.inf
        places = np.stack((first, rest.argmax(axis=1)), axis=1)[:, : at.shape[1]]
        best, worst = (height[places], slope[places]), (height[lowest], slope[lowest])
        if places.shape[1] == 1:  # one row alone keeps no other from being second
            best = tuple(np.insert(each, 1, none, axis=1) for each, none in zip(best, (-np.inf, 0)))
        if self.best is None:
            self.best, self.worst = best, worst
            return
        knots: Any = self.knots
        both = [np.concatenate(pair, axis=1) for pair in zip(self.best, best)]
        order = np.argsort(-(both[0] + knots[:, None] * both[1]), axis=1, kind="stable")[:, :2]
        self.best = tuple(np.take_along_axis(each, order, axis=1) for each in both)
        lower = worst[0] + knots * worst[1] < self.worst[0] + knots * self.worst[1]
        self.worst = tuple(np.where(lower, new, old) for new, old in zip(worst, self.worst))

    def finish(self) -> tuple[Any, Leaders] | None:
        """The selector at the budget of all candidates, and its leaders; None: read again."""
        if self.failed or self.knots is None:
            return None
        ready = self.selector
        power = ready.power.joined(self.amounts)
        if not self.knots[0] <= np.sqrt(power) <= self.knots[-1]:
            return None
        columns = [np.concatenate(each) for each in zip(*self.kept)]
        rows, mean, variance, share, height, slope = columns
        look = ready.look_again(self.belief, self.X, mean, variance, share)
        held, rating = Leaders(), ready.rated(look, power)
        held.add(0, rows, rating)
        # a row that was dropped is further from the best than any tie, if scores are the lines
        off = float(np.abs(rating.values - (height + np.sqrt(power) * slope)).max())
        widest = tie(held.top, held.lowest, held.resolution) + ROUNDING * self.scale + 2.0 * off
        if not widest < self.slack:
            return None
        held.count, held.largest_power = self.count, self.largest_power
        held.total = float(self.sums @ (1.0, np.sqrt(power))) + self.count * held.constant
        return ready.at(power), held


def envelope_of(
    selector: Any, belief: Belief, X: Any, kept: Any = None, rule: Any = None
) -> Envelope | None:
    """An empty envelope for a rule whose scores are lines in the root of its budget; else None.

    `kept` is where the forms of all rows are kept as they come (`KeptForms`), or None; `rule` what
    lines follow from that a formula gives (`Lines`).
    """
    if not selector.looks_twice:
        return None
    ready = selector.looking(belief, X)
    if ready is None or not ready.draws_lines:
        return None
    return Envelope(ready, belief, X, kept, rule)
