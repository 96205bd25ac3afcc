"""Questions that read only the tiles which can hold the best row: the same row, and runner-up.

`TileRecords` say where the means and deviations of a tile's rows can lie under the belief of now;
a rule's `Reach` turns them into bounds on its scores. Tiles are read from the highest bound down,
until no tile that is left can reach the second best score, ties included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Linear
from apm.posteriors.gaussian import ScalarGaussian
from apm.power import Candidates, FixedPower, SpectralPower, SpectralWithMean
from apm.selectors.matching.apm import APM
from apm.selectors.matching.messages import Parameters
from apm.selectors.matching.target import unit_correlation
from apm.selectors.matching.views import AllClasses, ContestedPair, as_choice
from apm.selectors.ranking import tie
from apm.selectors.rules.information_gain import InformationGain
from apm.selectors.rules.max_variance import MaxVariance
from apm.selectors.rules.uncertainty import Uncertainty
from apm.selectors.tiles.leaders import Leaders
from apm.selectors.tiles.records import CELLS, Known, Ranges, TileRecords
from apm.selectors.tiles.scanning import scanned
from channelcode._validation import Array
from channelcode.channels import Logistic
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector

FEW = 4  # tiles are read from the highest bound down until the rest can be told apart
MOST = 0.75  # of the tiles: if more can hold the best, all are read in order
LITTLE = 0.6  # the same where a pass by mean and length costs about so much
ROUNDING = 1e-12  # of a score in double precision, relative to the largest
INTEGRAL = 1e-9  # bits: more than the error of an information


class Reach(ABC):
    """Bounds on the scores of a rule, from ranges of |m| and s; arrays of one shape."""

    signed = True
    varies = True
    scans = False  # whether bounds by mean and length cost less than scores

    @abstractmethod
    def highest(self, ranges: Ranges) -> Array:
        """No candidate in these ranges scores more."""

    @abstractmethod
    def lowest(self, ranges: Ranges) -> Array:
        """No candidate in these ranges scores less."""

    def inputs(self, rating: Rating) -> tuple[Array, Array] | None:
        """Means and deviations of the candidates of a rating."""
        laws = rating.laws
        return (laws.mean, np.sqrt(laws.variance)) if isinstance(laws, ScalarPool) else None


@dataclass(frozen=True)
class Matched(Reach):
    """APM: `-m^2 - s^2 + 2 root s`, which rises with s up to the root; uncharged without s^2."""

    root: float
    charged: bool
    scans = True

    def highest(self, ranges: Ranges) -> Array:
        s = np.minimum(np.maximum(self.root, ranges.narrow), ranges.wide)
        s = s if self.charged else ranges.wide
        return -np.square(ranges.near) + self._spread(s)

    def lowest(self, ranges: Ranges) -> Array:
        ends = np.minimum(self._spread(ranges.narrow), self._spread(ranges.wide))
        return -np.square(ranges.far) + ends

    def _spread(self, s: Array) -> Array:
        return s * (2.0 * self.root - (s if self.charged else 0.0))


class Widest(Reach):
    """MaxVariance: s^2."""

    def highest(self, ranges: Ranges) -> Array:
        return np.square(ranges.wide)

    def lowest(self, ranges: Ranges) -> Array:
        return np.square(ranges.narrow)


class Telling(Reach):
    """InformationGain through the logistic channel: rises with s and falls with |m|.

    For N(m, v), `dI/dm = E[w] (a - b)` and `2v dI/dv = E[w] (Var + (a - m)(a - b))` with w the
    slope, a and Var moments of L under the law times w, and b the logit of E p(L): both signs
    follow from a <= b for m > 0, which was checked on a grid (tests).
    """

    def highest(self, ranges: Ranges) -> Array:
        return self._gain(ranges.near, ranges.wide) + INTEGRAL

    def lowest(self, ranges: Ranges) -> Array:
        return self._gain(ranges.far, ranges.narrow) - INTEGRAL

    def _gain(self, mean: Array, deviation: Array) -> Array:
        from channelcode.information import mutual_information

        pool = ScalarPool(mean.ravel(), np.square(deviation).ravel())
        return np.asarray(mutual_information(Logistic(), pool).bits).reshape(mean.shape)


class Nearest(Reach):
    """Uncertainty through the logistic channel: `-|m|`, at the most probable theta."""

    signed = varies = False

    def highest(self, ranges: Ranges) -> Array:
        return -ranges.near

    def lowest(self, ranges: Ranges) -> Array:
        return -ranges.far

    def inputs(self, rating: Rating) -> tuple[Array, Array] | None:
        return -rating.values, np.zeros(len(rating.values))


class Pruning:
    """A rule on one belief beside the records of a pool; `of` gives None without a known bound."""

    def __init__(self, reach: Reach, now: Known, posterior: ScalarGaussian, X: Any) -> None:
        if X.records is None:
            X.records = TileRecords(X)
        self.reach, self.now, self.posterior = reach, now, posterior
        self.X, self.records = X, X.records
        self.rests = self.records.rests()

    @classmethod
    def of(cls, rule: Selector, belief: Belief, X: Any) -> Pruning | None:
        """The pruning for rows that can be read from anywhere, on a Gaussian with few features."""
        belief = belief.sized(X)
        posterior = belief.posterior
        if not X.quick or type(belief.encoder) is not Linear:
            return None
        if not isinstance(posterior, ScalarGaussian) or not isinstance(posterior._root, np.ndarray):
            return None
        reach = reach_of(rule, belief, X)
        if reach is None:
            return None
        theta = np.asarray(posterior.mean if reach.signed else posterior.map, dtype=np.float64)
        factor = posterior.factor if reach.varies else None
        return cls(reach, Known(theta, factor, reach.signed), posterior, X)

    def read(self, start: int, tile: Any, places: Any, rating: Rating) -> None:
        """Remember the tile that begins at row `start`."""
        found = None if self.rests else self.reach.inputs(rating)
        if found is not None:
            number = start // self.X.tile_rows
            self.records.read(number, start, tile, places, found, self.now)

    def pick(self, is_open: Any, tiles: Any, rate: Any) -> Leaders | None:
        """The leaders by the tiles that can hold them; None if most must be read, or ties are open.

        `tiles(numbers)` gives first row, rows and candidates of tiles; `rate(start, tile, places)`
        their rating.
        """
        if not self.records.complete:
            return None
        found = None
        if not self.rests:
            held, bounds = _Found(), self._bounds(is_open)
            found = self._read_on(held, bounds, is_open, tiles, rate)
            self.records.misses = self.records.misses + 1 if found is None else 0
        if found is None and self.reach.scans:
            held = _Found()
            bounds = scanned(self.reach, self.posterior, self.records, tiles, self.X.num_tiles)
            if bounds is not None:
                found = self._read_on(held, bounds, is_open, tiles, rate)
        return found

    def _read_on(
        self, held: _Found, bounds: tuple[Array, float, Array], is_open: Any, tiles: Any, rate: Any
    ) -> Leaders | None:
        """Read the tiles from the highest bound down, unless most must be read."""
        highest, held.deepest, power = bounds
        order = np.argsort(-highest, kind="stable")
        unread = np.ones(len(order), dtype=bool)

        def look(numbers: Any) -> None:
            for start, tile, places in tiles(np.sort(numbers)):
                rating = rate(start, tile, places)
                self.read(start, tile, places, rating)
                held.add(start + places, rating)
            unread[numbers] = False

        look(order[:FEW])
        rest = order[FEW:]
        most = LITTLE if self.reach.scans else MOST
        if np.count_nonzero(highest[rest] >= held.enough) > most * len(order):
            return None
        while len(rest) and highest[rest[0]] >= held.enough:
            step = rest[highest[rest] >= held.enough][: max(FEW, len(order) - len(rest))]
            look(step)
            rest = rest[len(step) :]
        left = power[unread].max(initial=0.0)
        found = held.leaders(int(np.count_nonzero(is_open)))
        if found is not None and found.largest_power is not None:
            found.largest_power = max(found.largest_power, float(left))
        return found

    def _bounds(self, is_open: Any) -> tuple[Array, float, Array]:
        """For each tile the highest score and power; and what no score is below."""
        ranges = self.records.ranges(self.now, is_open)
        full = ranges.far >= ranges.near
        clean = Ranges(*(np.where(full, each, 0.0) for each in ranges))
        highest, lowest = self.reach.highest(clean), self.reach.lowest(clean)
        highest = np.where(full, highest, -np.inf).reshape(-1, CELLS).max(axis=1)
        lowest = np.where(full, lowest, np.inf).reshape(-1, CELLS).min(axis=1)
        power = (np.square(clean.far) + np.square(clean.wide)).reshape(-1, CELLS)
        with np.errstate(invalid="ignore"):
            slack = ROUNDING * np.maximum(np.abs(highest), np.abs(lowest))
        return highest + slack, float((lowest - slack).min()), power.max(axis=1)


class _Found:
    """The best rows of the tiles that were read, ties with the second best included."""

    def __init__(self) -> None:
        self.deepest = -np.inf
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


def reach_of(rule: Selector, belief: Belief, X: Any) -> Reach | None:
    """The bounds of a rule, where they are known."""
    if type(rule) is MaxVariance:
        return Widest()
    logistic = type(belief.channel) is Logistic
    if type(rule) is Uncertainty:
        return Nearest() if logistic else None
    if type(rule) is InformationGain:
        return Telling() if logistic and rule.samples is None and rule.about is None else None
    if (
        type(rule) is not APM
        or type(rule.message) is not Parameters
        or type(as_choice(rule.channel)) not in (AllClasses, ContestedPair)
        or type(rule.power) not in (SpectralPower, SpectralWithMean, FixedPower)
        or rule.solver is not None
        or rule.radius is None
    ):
        return None
    correlation = unit_correlation(belief.channel)
    if correlation is None:
        return None
    power = rule.power.amount(Candidates(belief, X, rule.radius))
    return Matched(correlation * sqrt(power), rule.charged)
