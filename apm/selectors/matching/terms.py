"""APM's two terms, each as a selector of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.selectors.matching.apm import Matching
from apm.selectors.matching.target import (
    decompose,
    exploitation,
    has_two_atoms,
    target_input,
    two_atom_scores,
)
from channelcode._validation import Array, Seed
from channelcode.measures import Pool, ScalarPool


@dataclass(frozen=True)
class APMExploit(Matching):
    """APM's first term alone: `-|m_x - m_T|^2`, the paper's APM-LR-U (appendix, "failure modes").

    >>> from apm import Belief, FixedPower, VariationalLogistic
    >>> belief = Belief(VariationalLogistic().fit([[1.0], [-2.0]], [1, 0]))
    >>> int(APMExploit().select(belief, [[3.0], [-1.0], [2.0]])[0])
    1
    """

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        if self.solver is None and has_two_atoms(belief.channel, laws):
            return -(laws.mean**2)  # the mean of B_sqrt(P) is zero
        power = self.budget(belief, X, laws=laws)
        target = target_input(belief.channel, power, solver=self.solver)
        return -exploitation(laws, target.input)


@dataclass(frozen=True)
class APMExplore(Matching):
    """APM's second term alone: `-W2^2(p_L - m, p*_L - m*)`, the paper's APM-LR-V.

    For logistic regression `-(sigma - sqrt(2P/pi))^2`, less the constant of `APM`, so that the
    scores of `APMExploit` and `APMExplore` add up to those of `APM`.
    """

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        power = self.budget(belief, X, laws=laws)
        if self.solver is None and has_two_atoms(belief.channel, laws):
            centred = ScalarPool(np.zeros(len(laws)), laws.total_variance)
            return two_atom_scores(centred, power)
        target = target_input(belief.channel, power, solver=self.solver)
        return -decompose(laws, target.input)[1]
