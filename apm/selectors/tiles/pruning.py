"""Questions that read only the tiles which can hold the best row: the same row, and runner-up.

`TileRecords` say where the means and deviations of a tile's rows can lie under the belief of now;
a rule's `Reach` turns them into bounds on its scores. Tiles are read from the highest bound down,
until no tile that is left can reach the second best score, ties included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
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
from apm.selectors.rules.information_gain import InformationGain
from apm.selectors.rules.max_variance import MaxVariance
from apm.selectors.rules.uncertainty import Uncertainty
from apm.selectors.tiles.descent import TileLimits, read_down
from apm.selectors.tiles.gain_table import GainTable
from apm.selectors.tiles.kept_forms import Forms, KeptForms
from apm.selectors.tiles.leaders import Leaders
from apm.selectors.tiles.records import CELLS, Known, Ranges, TileRecords
from apm.selectors.tiles.scanning import COLUMNS, PlainSight, scan
from channelcode._validation import Array
from channelcode.channels import Logistic
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector

MOST = 0.75  # of the tiles: if more can hold the best, all are read in order
FEW = 3  # products that are tried first, where none are not enough; then 7, and 15
LITTLE = 0.6  # the same where a pass by few products can tell them apart
ROUNDING = 1e-12  # of a score in double precision, relative to the largest
INTEGRAL = 1e-9  # bits: more than the error of an information


class Reach(ABC):
    """Bounds on the scores of a rule, from ranges of |m| and s; arrays of one shape."""

    signed = True
    varies = True
    scans = False  # whether bounds cost less than scores
    by_length = True  # and by the lengths of rows alone

    @abstractmethod
    def highest(self, ranges: Ranges) -> Array:
        """No candidate in these ranges scores more."""

    @abstractmethod
    def lowest(self, ranges: Ranges) -> Array:
        """No candidate in these ranges scores less."""

    def while_asked(self, ranges: Ranges, off: float, blur: float) -> Array:
        """No candidate in these ranges scores more, now or when further rows have been asked.

        That moves no mean and lets variances shrink; `off` and `blur` are what rounding can do to
        means and deviations.
        """
        near = np.maximum(ranges.near - off, 0.0)
        none = np.zeros(np.shape(ranges.wide))
        return self.highest(Ranges(near, ranges.far, none, ranges.wide + blur))

    def quickly(
        self, near: Array, form: tuple[Array, Array], off: float, blur: float
    ) -> tuple[Array, Array]:
        """No candidate scores more, now and while a batch grows, by |m| and a range of s^2.

        It may be more than `highest` and `while_asked` have, where these take time.
        """
        ranges = Ranges(near, near, *(np.sqrt(end) for end in form))
        return self.highest(ranges), self.while_asked(ranges, off, blur)

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

    def quickly(
        self, near: Array, form: tuple[Array, Array], off: float, blur: float
    ) -> tuple[Array, Array]:
        return _compiled(near, form, (1.0, self.root, float(self.charged), off, blur))

    def _spread(self, s: Array) -> Array:
        return s * (2.0 * self.root - (s if self.charged else 0.0))


class Widest(Reach):
    """MaxVariance: s^2. A whole pass leaves ranges of s by which few tiles are read later."""

    scans = True
    by_length = False

    def highest(self, ranges: Ranges) -> Array:
        return np.square(ranges.wide)

    def lowest(self, ranges: Ranges) -> Array:
        return np.square(ranges.narrow)

    def quickly(
        self, near: Array, form: tuple[Array, Array], off: float, blur: float
    ) -> tuple[Array, Array]:
        return _compiled(near, form, (0.0, 0.0, -1.0, off, blur))


class Telling(Reach):
    """InformationGain through the logistic channel: rises with s and falls with |m|.

    For N(m, v), `dI/dm = E[w] (a - b)` and `2v dI/dv = E[w] (Var + (a - m)(a - b))` with w the
    slope, a and Var moments of L under the law times w, and b the logit of E p(L): both signs
    follow from a <= b for m > 0, which was checked on a grid (tests).
    """

    scans = True

    def quickly(
        self, near: Array, form: tuple[Array, Array], off: float, blur: float
    ) -> tuple[Array, Array]:
        wide = form[1] + blur * (2.0 * np.sqrt(form[1]) + blur)
        found = _gains().above(np.maximum(near - off, 0.0), wide)
        found = np.minimum(found, 1.0) + INTEGRAL  # a label of two values is at most one bit
        return found, found.copy()

    def highest(self, ranges: Ranges) -> Array:
        return _gain(ranges.near, np.square(ranges.wide)) + INTEGRAL

    def lowest(self, ranges: Ranges) -> Array:
        return _gain(ranges.far, np.square(ranges.narrow)) - INTEGRAL


def _gain(mean: Array, variance: Array) -> Array:
    """The information of labels through the logistic channel in bits, of the shape of the means."""
    from channelcode.information import mutual_information

    pool = ScalarPool(mean.ravel(), variance.ravel())
    return np.asarray(mutual_information(Logistic(), pool).bits).reshape(mean.shape)


@cache
def _gains() -> GainTable:
    """The one table of these, which grows as variances are met."""
    return GainTable(_gain)


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
        posterior = gaussian_of(belief, X)
        reach = None if posterior is None else reach_of(rule, belief, X)
        if posterior is None or reach is None:
            return None
        theta = np.asarray(posterior.mean if reach.signed else posterior.map, dtype=np.float64)
        if not np.isfinite(theta).all():
            return None
        factor = posterior.factor if reach.varies else None
        return cls(reach, Known(theta, factor, reach.signed), posterior, X)

    def keeping(self, is_open: Any) -> KeptForms | None:
        """Empty forms for a pass over all rows, where the next question can use them."""
        forms = Forms.of(self.posterior, None) if self.reach.scans else None
        if forms is None:
            return None
        constant = len(self.posterior.mean) > self.X.shape[1]
        return KeptForms(self.X, forms, is_open, constant)

    def read(self, start: int, tile: Any, places: Any, rating: Rating) -> None:
        """Remember the tile that begins at row `start`."""
        found = None if self.rests else self.reach.inputs(rating)
        if found is not None:
            number = start // self.X.tile_rows
            self.records.read(number, start, tile, places, found, self.now)

    def pick(self, is_open: Any, tiles: Any, rate: Any, wanted: int = 1) -> Leaders | None:
        """The leaders by the tiles that can hold them; None if most must be read, or ties are open.

        `tiles(numbers)` gives first row, rows and candidates of tiles; `rate(start, tile, places)`
        their rating. `wanted` is how many rows a batch still needs.
        """
        if not self.records.complete:
            return None
        found, count = None, int(np.count_nonzero(is_open))
        forms = Forms.of(self.posterior, None) if self.reach.scans else None
        kept = None if forms is None else self._kept(forms)

        def rated(start: int, tile: Any, places: Any) -> Rating:
            rating = rate(start, tile, places)
            self.read(start, tile, places, rating)
            return rating

        if not self.rests:
            most = MOST if kept is None else LITTLE
            found = read_down(self._limits(is_open), count, most, tiles, rated)
            self.records.misses = self.records.misses + 1 if found is None else 0
        if found is None and kept is not None and forms is not None:
            most = self.X.products
            sight = PlainSight(self.reach, kept, self.posterior, forms, most, wanted=wanted)
            scan(kept, [sight], tiles)
            found = None if sight.lost else read_down(sight.limits, count, MOST, tiles, rated)
            if found is None or sight.stale:
                self._wear(kept)
            elif sight.loose:
                self.X.products = min(max(FEW, 2 * self.X.products + 1), COLUMNS)
        return found

    def _kept(self, forms: Forms) -> KeptForms | None:
        """The forms of all rows that are known: those of a pass, or else their lengths.

        Where rows lie in clusters a pass by lengths would leave wide ranges, and later questions
        would read tiles that they need not.
        """
        kept = self.X.kept
        if kept is not None:
            return kept if kept.fits(forms) else None
        worn = self.posterior.num_observations >= self.X.worn_from
        if worn or not self.reach.by_length or self.records.clustered:
            return None
        return KeptForms.of_lengths(self.X, forms)

    def _wear(self, kept: KeptForms) -> None:
        """Leave forms that were of little use out of the next question."""
        if kept is self.X.kept:
            self.X.kept = None
        else:
            self.X.worn_from = self.posterior.num_observations

    def _limits(self, is_open: Any) -> TileLimits:
        """The bounds of all tiles by what is remembered of them."""
        ranges = self.records.ranges(self.now, is_open)
        full = ranges.far >= ranges.near
        clean = Ranges(*(np.where(full, each, 0.0) for each in ranges))
        off, blur = (float(np.max(each)) for each in self.records.slack(self.now, slice(None)))
        form = np.square(clean.narrow), np.square(clean.wide)
        highest, later = (
            np.where(full, each, -np.inf).reshape(-1, CELLS).max(axis=1)
            for each in self.reach.quickly(clean.near, form, off, blur)
        )
        power = (np.square(clean.far) + form[1]).reshape(-1, CELLS).max(axis=1)
        ends = clean.near.min(), clean.far.max(), clean.narrow.min(), clean.wide.max()
        deepest = float(self.reach.lowest(Ranges(*(np.array([end]) for end in ends)))[0])
        with np.errstate(invalid="ignore"):
            slack = ROUNDING * np.maximum(np.abs(highest), abs(deepest))
        deepest -= float(np.max(slack))
        return TileLimits(highest + slack, power, deepest, later + slack)


def _compiled(
    near: Array, form: tuple[Array, Array], rule: tuple[float, ...]
) -> tuple[Array, Array]:
    from apm._kernels.kept_bounds import plain_bounds

    return plain_bounds(near, *form, np.array(rule))


def gaussian_of(belief: Belief, X: Any) -> ScalarGaussian | None:
    """The Gaussian by which rows that can be read from anywhere are scored; else None.

    Nor one with numbers beyond the range of floats: a pass over the rows says what is wrong.
    """
    posterior = belief.sized(X).posterior
    if (
        not X.quick
        or type(belief.encoder) is not Linear
        or not isinstance(posterior, ScalarGaussian)
        or not isinstance(posterior._root, np.ndarray)
        or not np.isfinite(posterior.mean).all()
        or not np.isfinite(posterior.covariance).all()
    ):
        return None
    return posterior


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
