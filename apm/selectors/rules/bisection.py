"""Bisection: the query at the median of what is believed (Horstein; Burnashev, Zigangirov)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from apm.belief import Belief
from apm.selectors.base import PoolSelector
from apm.selectors.matching.views import ContestedPair
from channelcode._validation import Array, Seed, as_generator
from channelcode.measures import EmpiricalPool, Pool, ScalarPool


@dataclass(frozen=True)
class Bisection(PoolSelector):
    """Ask where a positive and a negative input are equally likely: `-|P(l > 0) - 1/2|`.

    For step encoders (`Thresholds`) that is the query nearest to the posterior median, and there
    W2^2 to the target is 4 P |F(x) - 1/2|: the same query as APM's, and posterior matching itself
    where the pool has a query at the median. With an input in R^k, l is the difference of the two
    likeliest classes (`ContestedPair`).

    `randomised=True` is the choice of Burnashev and Zigangirov, for noise that is only known to be
    bounded: of the two queries around the median one is drawn so that the mean imbalance vanishes.
    Its guarantee (`channelcode.feedback.BurnashevZigangirov`) needs the gentler posterior
    `Thresholds.noisy(values, alpha)`, alpha = sqrt e / (sqrt e + sqrt(1 - e)), and queries that
    may be asked again.

    >>> from apm import Belief, Thresholds
    >>> belief = Belief(Thresholds.noisy([0.5, 1.5, 2.5, 3.5], 0.1).update([2.0], 1))
    >>> int(Bisection().select(belief, [[1.0], [2.0], [3.0]])[0])
    2
    """

    randomised: bool = False

    adapts = False
    by_row = True

    def needs_all_rows(self, belief: Belief) -> str | None:
        if self.randomised:
            return "Bisection(randomised=True) draws one of the two rows around the median"
        return super().needs_all_rows(belief)

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        if laws.dim > 1:
            laws = ContestedPair().view(belief, laws).laws
        chance = positive_chance(laws)
        scores = -np.abs(chance - 0.5)
        if not self.randomised or len(chance) < 2:
            return scores
        above, below = chance >= 0.5, chance < 0.5
        if not above.any() or not below.any():
            return scores
        high, low = chance[above].min(), chance[below].max()
        # the draw with mean imbalance zero: E P(l > 0) = 1/2
        take_low = as_generator(rng).random() < (high - 0.5) / (high - low)
        asked = below & (chance == low) if take_low else above & (chance == high)
        return scores + asked  # one of the two leads; the rest keep their order


def positive_chance(laws: Pool) -> Array:
    """P(l > 0) of each law on the line, `(n,)`."""
    if isinstance(laws, EmpiricalPool):
        return (laws.samples > 0) @ laws.weights
    if isinstance(laws, ScalarPool):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = laws.mean / np.sqrt(laws.variance)
        return np.where(laws.mean == 0, 0.5, ndtr(ratio))
    return np.array([_mass_above(laws[place]) for place in range(len(laws))])


def _mass_above(law: Any) -> float:
    if hasattr(law, "weights"):
        return float(law.weights[np.asarray(law.atoms) > 0].sum())
    return float(ndtr(law.mean / np.sqrt(law.covariance)))
