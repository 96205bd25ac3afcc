"""The largest variance of the channel input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apm.belief import Belief
from apm.selectors.base import PoolSelector
from channelcode._validation import Array, Seed
from channelcode.measures import Pool


@dataclass(frozen=True)
class MaxVariance(PoolSelector):
    """Ask where the channel input varies most: `x'Sigma x`, in R^k the total variance (MaxVar).

    >>> from apm import Belief, VariationalLogistic
    >>> MaxVariance().scores(Belief(VariationalLogistic(1.0)), [[3.0, 4.0], [1.0, 0.0]])
    array([25.,  1.])
    """

    by_row = True

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        return laws.total_variance
