"""Which tiles the later rows of a batch can come from: upper bounds found at the first pass.

Asking a row leaves the means and shrinks the variances of all inputs (`apm.selectors.batch`), and
B^2 lambda_1 shrinks with them. With c = max E<Z, T> / sqrt(P), the score of APM without its
constant is `-mu^2 + s (2 c sqrt(P) - s)`, which rises with s up to `c sqrt(P)`. So after any
further row of the batch it is at most what it was, or `-mu^2 + c^2 P` where s was beyond that.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Linear
from apm.posteriors import VariationalLogistic
from apm.power import Candidates, FixedPower, SpectralPower
from apm.selectors.matching.apm import APM
from apm.selectors.matching.messages import Parameters
from apm.selectors.matching.target import unit_correlation
from apm.selectors.matching.views import AllClasses, as_choice
from apm.selectors.ranking import tie
from channelcode.measures import ScalarPool

if TYPE_CHECKING:
    from apm.selectors.base import Rating, Selector


class TileBounds:
    """Upper bounds on the scores of each tile while a batch grows; `of` gives None if unknown."""

    def __init__(self, correlation: float, power: float, slack: float) -> None:
        self.root, self.slack = correlation * sqrt(power), slack
        self.bounds: dict[int, float] = {}
        self.largest = 0.0

    @classmethod
    def of(cls, rule: Selector, belief: Belief, X: Any) -> TileBounds | None:
        """Bounds for APM as the paper has it, on rows that can be read from anywhere."""
        known = (
            type(rule) is APM
            and type(rule.message) is Parameters
            and type(as_choice(rule.channel)) is AllClasses
            and type(rule.power) in (SpectralPower, FixedPower)
            and rule.solver is None
            and rule.charged
            and rule.radius is not None
            and type(belief.posterior) is VariationalLogistic
            and type(belief.encoder) is Linear
            and X.seekable
        )
        correlation = unit_correlation(belief.channel) if known else None
        if not known or correlation is None:
            return None
        posterior: Any = belief.posterior
        radius: Any = rule.radius  # type: ignore[attr-defined]
        power = rule.power.amount(Candidates(belief, X, radius))  # type: ignore[attr-defined]
        # what rounding can do to two evaluations of x'mu and |F'x|, by the usual bound
        unit = float(np.finfo(X.dtype).eps) * (X.shape[1] + 8)
        mean = radius * float(np.linalg.norm(posterior.mean))
        widest = radius * sqrt(posterior.top_eigenvalue)
        image = unit * radius * float(np.linalg.norm(posterior.factor))
        reach = widest + image + correlation * sqrt(power)
        slack = 4.0 * (unit * mean * mean * (1.0 + unit) + reach * image)
        return cls(correlation, power, slack) if np.isfinite(slack) else None

    def add(self, start: int, rating: Rating) -> None:
        """Take in the scores of the tile that begins at row `start`."""
        laws: Any = rating.laws
        if not isinstance(laws, ScalarPool):
            self.bounds[start] = np.inf
            return
        beyond = np.sqrt(laws.variance) > self.root
        risen = np.where(beyond, self.root**2 - np.square(laws.mean), rating.values)
        self.bounds[start] = float(np.maximum(risen, rating.values).max())
        self.largest = max(self.largest, float(laws.second_moment.max()))

    def pick(self, rate: Any, height: int) -> int | None:
        """The best row now, reading only tiles that can hold it; None if ties leave it open.

        `rate(number)` gives the rows of the candidates of a tile and their rating, or None.
        """
        top, lowest = -np.inf, np.inf
        deepest = -(self.largest * 1.001 + self.slack)  # no score can be below this
        found: list[tuple[Any, Any]] = []
        for start in sorted(self.bounds, key=lambda each: (-self.bounds[each], each)):
            if np.isfinite(top) and self.bounds[start] + self.slack < top - tie(top, deepest, 0.0):
                break
            scored = rate(start // height)
            if scored is None:
                continue
            rows, rating = scored
            if rating.resolution:
                return None
            top = max(top, float(rating.values.max()))
            lowest = min(lowest, float(rating.values.min()))
            near = rating.values >= top - tie(top, deepest, 0.0)
            found.append((rows[near], rating.values[near]))
        if not np.isfinite(top) or lowest < deepest:
            return None
        rows, values = (np.concatenate(parts) for parts in zip(*found))
        first = [
            int(rows[values >= top - tie(top, low, 0.0)].min(initial=np.iinfo(np.intp).max))
            for low in (lowest, deepest)
        ]
        return first[0] if first[0] == first[1] else None
