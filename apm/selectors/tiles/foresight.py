"""Batches at a budget over the pool: foretold by the rows that led before, and then proved.

The rows that were foremost at the last pass foretell the picks of a batch, and with them the
beliefs that it goes through. One pass bounds the scores of all rows under all of these beliefs
(`apm.selectors.tiles.scanning`). A pick is then decided by the tiles that can hold it; where it is
another than was foretold, the rest of the batch is foretold anew and takes another pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.posteriors.gaussian import ScalarGaussian
from apm.selectors.batch import condition
from apm.selectors.matching.apm import APM
from apm.selectors.matching.input_noise import bend
from apm.selectors.matching.messages import Parameters, SurveyedPredictions
from apm.selectors.matching.target import unit_correlation
from apm.selectors.matching.views import AllClasses, ContestedPair, as_choice
from apm.selectors.tiles.descent import read_down
from apm.selectors.tiles.kept_forms import Forms, KeptForms
from apm.selectors.tiles.leaders import Leaders
from apm.selectors.tiles.line_sight import POWERS, LineSight
from apm.selectors.tiles.pruning import gaussian_of
from apm.selectors.tiles.scanning import scan
from channelcode._validation import Seed

if TYPE_CHECKING:
    from apm.selectors.base import Rating

# Labels since forms were kept, and products for a sight from so many on: with the mean they are a
# multiple of four, which a product of matrices takes as quickly as three fewer. The later rows of
# a batch go on from what the first has, which had better be close.
PRODUCTS = (5, 15), (3, 11), (0, 7)
OF_A_BATCH = (3, 15), (0, 7)
OLD = 6  # labels after which kept forms bound the later rows of a batch too loosely
ONWARD = 4  # products more for the belief after another pick
AHEAD = 4  # picks that one pass looks at
MOST = 0.5  # of the tiles: if more must be read, a pass over all costs no more
NEAR = 1e-6  # of a score: rows this near to the second best are looked at closely


@dataclass(frozen=True, eq=False)
class Lines:
    """What the scores of APM at a budget over the pool are made of, under one belief.

    `bend` is b of the slope `k^2 = 1 / (1 + b (V - S))`, `correlation` that with the target;
    `amount` are the parts of the budget (`POWERS`).
    """

    ready: Any
    posterior: ScalarGaussian
    forms: Forms
    bend: float
    correlation: float
    charged: bool
    amount: tuple[float, ...]

    @classmethod
    def of(cls, selector: Any, belief: Belief, X: Any) -> Lines | None:
        """The lines of a rule whose rows can be read anywhere; None where they are not known."""
        posterior = gaussian_of(belief, X)
        if type(selector) is not APM or posterior is None or selector.solver is not None:
            return None
        amount = POWERS.get(type(selector.power))
        view = type(as_choice(selector.channel))
        if amount is None or view not in (AllClasses, ContestedPair):
            return None
        ready = selector.looking(belief, X)
        message, correlation = ready.message, unit_correlation(belief.channel)
        form = getattr(message, "form", None)
        plain = type(message) is Parameters
        if correlation is None or not (plain or type(message) is SurveyedPredictions):
            return None
        b = 0.0 if plain else bend(belief.channel)
        if b is None or not (plain or form is not None):
            return None
        forms = Forms.of(posterior, form)
        if forms is None:
            return None
        return cls(ready, posterior, forms, b, correlation, selector.charged, amount)

    @property
    def rule(self) -> tuple[float, ...]:
        """The numbers by which lines are computed (`apm._kernels.kept_bounds.line_bounds`)."""
        return self.bend, 2.0 * self.correlation, float(self.charged), *self.amount

    def under(self, belief: Belief, X: Any) -> bool:
        """Whether these are the lines under a belief: they may have been foretold."""
        here: Any = belief.sized(X).posterior
        pairs = [(self.posterior.mean, here.mean), (self.posterior.factor, here.factor)]
        return all(np.array_equal(one, other) for one, other in pairs)

    def kept(self, X: Any, is_open: Any) -> KeptForms:
        """Empty forms for a pass under this belief."""
        constant = len(self.posterior.mean) > X.shape[1]
        kept = KeptForms(X, self.forms, is_open, constant)
        kept.labels = self.posterior.num_observations
        return kept


class Foresight:
    """The picks of one question from a pool whose forms are kept."""

    def __init__(self, selector: Any, X: Any, count: int, rng: Seed) -> None:
        self.selector, self.X, self.count, self.rng = selector, X, count, rng
        self.seen: dict[tuple[int, ...], tuple[Lines, LineSight]] = {}
        self.stale = False

    def pick(
        self, belief: Belief, is_open: Any, picked: list[int], tiles: Any
    ) -> tuple[Any, Leaders] | None:
        """The rule at its budget and the leaders after these picks; None: read all rows.

        `tiles(numbers)` gives first row, rows and candidates of tiles, None those of all.
        """
        X, key = self.X, tuple(picked)
        kept = X.kept  # which another learner may replace meanwhile
        if kept is None:
            return None
        known = getattr(belief.sized(X).posterior, "num_observations", kept.labels)
        if self.count > 1 and not picked and abs(known - kept.labels) > OLD:
            return None  # which finds them anew, for the rest of the batch too
        ahead = AHEAD
        if key in self.seen and not self.seen[key][0].under(belief, X):
            del self.seen[key]  # the row is the one foretold, but what was foretold of it is not
        if key in self.seen and self.seen[key][1].lost:
            ahead = 1  # without those behind it
            del self.seen[key]
        if key not in self.seen:
            self._look_ahead(kept, belief, is_open, picked, tiles, ahead)
        if key not in self.seen:
            return None
        lines, sight = self.seen[key]
        found = None if sight.lost else _decided(lines, sight, belief, is_open, tiles)
        if found is None and not picked:
            X.misses += 1
        elif not picked:
            X.misses = 0
        # what was set aside for later rows of a batch alone costs less than forms found anew
        self.stale |= sight.lost if picked else sight.stale
        return found

    def done(self) -> None:
        """Forget forms that were of little use, so that the next question finds them anew."""
        if self.stale:
            self.X.kept = None

    def _look_ahead(
        self, kept: KeptForms, belief: Belief, is_open: Any, picked: list[int], tiles: Any,
        ahead: int,
    ) -> None:  # fmt: skip
        """See all rows under the beliefs that the rest of the batch is foretold to go through."""
        X, seen = self.X, {}
        rows, features = kept.foremost.known()
        left = is_open[rows]
        wanted = min(self.count - len(picked), ahead, int(np.count_nonzero(left)))
        key, now, sights = tuple(picked), belief, []
        for step in range(wanted):
            lines = Lines.of(self.selector, now, X)
            if lines is None or not kept.fits(lines.forms):
                break
            ready, places = lines.ready, np.flatnonzero(left)
            look = ready.look(now, features, places)
            if look is None:
                break
            power = look.budget(ready, now, features)
            changes = lines.posterior.num_observations - kept.labels
            table = PRODUCTS if self.count == 1 else OF_A_BATCH
            few = next(count for labels, count in table if abs(changes) >= labels)
            most = ONWARD if sights else few
            sight = LineSight(lines, kept, power, most, sights[-1] if sights else None)
            seen[key] = lines, sight
            sights.append(sight)
            values = ready.rated(look, float(sight.roots[0]) ** 2).values
            if len(values) > 1:
                near = NEAR * float(np.abs(values).max())
                sight.enough = float(np.partition(values, -2)[-2]) - near
            if step + 1 < wanted:
                best = places[int(values.argmax())]
                key, left = (*key, int(rows[best])), left.copy()
                left[best] = False
                now = condition(now, features[best], rng=self.rng)
        if sights:
            scan(kept, sights, tiles)
        self.seen.update(seen)


def _decided(
    lines: Lines, sight: LineSight, belief: Belief, is_open: Any, tiles: Any
) -> tuple[Any, Leaders] | None:
    """The budget by the tiles that can set it, and then the leaders."""
    ready = lines.ready
    amounts: list[float] = []
    order = np.argsort(-sight.amount, kind="stable")
    for read, number in enumerate(order):
        if amounts and sight.amount[number] * (1.0 + NEAR) < ready.power.joined(amounts):
            break
        if read > MOST * len(order):
            return None
        for _, tile, places in tiles([number]):
            look = ready.look(belief, tile, places)
            if look is None:
                return None
            amounts.append(look.budget(ready, belief, tile))
    power = ready.power.joined(amounts)
    limits = sight.limits(power)
    if limits is None:
        return None
    rate = partial(_rated, ready, belief, power)
    found = read_down(limits, int(np.count_nonzero(is_open)), MOST, tiles, rate)
    return None if found is None else (ready.at(power), found)


def _rated(ready: Any, belief: Belief, power: float, _: int, tile: Any, places: Any) -> Rating:
    return ready.rated(ready.look(belief, tile, places), power)
