"""Margin sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.rules.label_probabilities import LabelSelector
from channelcode._validation import Array, Seed


@dataclass(frozen=True)
class Margin(LabelSelector):
    """Ask where the two likeliest labels are nearest: `-(p_(1) - p_(2))`.

    `Margin(bayesian=True)` is the Bayesian margin, with posterior predictive probabilities.

    >>> from apm import Belief, VariationalLogistic
    >>> belief = Belief(VariationalLogistic().fit([[1.0], [-2.0]], [1, 0]))
    >>> int(Margin().select(belief, [[3.0], [-1.0], [2.0]])[0])
    1
    """

    by_row = True

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        prob = self.probabilities(belief, X, rng=rng)
        two = np.partition(prob, prob.shape[1] - 2, axis=1)[:, -2:]
        return two[:, 0] - two[:, 1]
