"""Uncertainty sampling: the example nearest to the current decision boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.base import Selector
from apm.selectors.draws import point_inputs
from channelcode._validation import Array, Seed
from channelcode.channels import Logistic


@dataclass(frozen=True)
class Uncertainty(Selector):
    """Ask where the two likeliest labels are nearest in odds at the most probable theta.

    `-(ln p_(1) - ln p_(2))`, which for logistic regression is `-|x'theta|`, the distance to the MAP
    hyperplane (the paper's baseline; it prints argmin x'theta, without the modulus).

    >>> from apm import Belief, VariationalLogistic
    >>> belief = Belief(VariationalLogistic().fit([[1.0], [-2.0]], [1, 0]))
    >>> int(Uncertainty().select(belief, [[3.0], [-1.0], [2.0]])[0])
    1
    """

    adapts = False
    by_row = True

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        belief.require_classes()
        inputs = point_inputs(belief, X)
        if type(belief.channel) is Logistic:
            return -np.abs(inputs)
        logs = np.sort(belief.channel.log_prob(inputs), axis=-1)
        return logs[:, -2] - logs[:, -1]
