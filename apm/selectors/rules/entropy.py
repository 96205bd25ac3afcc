"""Entropy sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from apm.belief import Belief
from apm.selectors.rules.label_probabilities import LabelSelector
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, Seed


@dataclass(frozen=True)
class Entropy(LabelSelector):
    """Ask where the label is least certain: `H(Y | x)` in bits.

    >>> from apm import Belief, VariationalLogistic
    >>> Entropy().scores(Belief(VariationalLogistic()), [[1.0]])
    array([1.])
    """

    by_row = True

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        return np.asarray(entr(self.probabilities(belief, X, rng=rng)).sum(axis=1)) / LOG_TWO
