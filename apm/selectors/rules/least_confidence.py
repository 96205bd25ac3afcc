"""Least confidence sampling."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.rules.label_probabilities import LabelSelector
from channelcode._validation import Array, Seed


@dataclass(frozen=True)
class LeastConfidence(LabelSelector):
    """Ask where the likeliest label is least likely: `1 - max_y p(y | x)`.

    >>> from apm import Belief, VariationalLogistic
    >>> LeastConfidence().scores(Belief(VariationalLogistic()), [[1.0]])
    array([0.5])
    """

    by_row = True

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        return 1.0 - self.probabilities(belief, X, rng=rng).max(axis=1)
