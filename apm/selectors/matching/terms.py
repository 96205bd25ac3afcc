"""APM's two terms, each as a selector of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.selectors.matching.apm import Matching
from apm.selectors.matching.effective_channel import remaining_slope
from apm.selectors.matching.target import (
    decompose,
    has_two_atoms,
    target_input,
    two_atom_scores,
)
from apm.selectors.matching.views import as_choice
from channelcode._validation import Array, Seed
from channelcode.measures import Pool, ScalarPool


@dataclass(frozen=True)
class APMExploit(Matching):
    """APM's first term alone: `-|m_x - m_T|^2`, the paper's APM-LR-U (appendix, "failure modes").

    `channel` as for `APM`: through which channel a candidate is seen. `averaged=True` takes the
    mean as the label shows it once the input's variance counts as noise, `-|k m_x - m_T|^2` with
    k the slope that is left (`1 / sqrt(1 + pi sigma^2 / 8)` for the logistic channel): the logit of
    the averaged probability instead of the average logit.

    >>> from apm import Belief, FixedPower, VariationalLogistic
    >>> belief = Belief(VariationalLogistic().fit([[1.0], [-2.0]], [1, 0]))
    >>> int(APMExploit().select(belief, [[3.0], [-1.0], [2.0]])[0])
    1
    """

    channel: Any = field(default=None, kw_only=True)
    averaged: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.channel)

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        view = as_choice(self.channel).view(belief, laws)
        mean = view.laws.mean
        if self.averaged:
            k = remaining_slope(view)
            mean = k * mean if mean.ndim == 1 else k[:, None] * mean
        if self.solver is None and has_two_atoms(view.channel, view.laws):
            return -(mean**2)  # the mean of B_sqrt(P) is zero
        power = view.budget(self.power, belief, X, radius=self.radius)
        target = target_input(view.channel, power, solver=self.solver).input
        shift = mean - target.mean
        return -(shift**2) if shift.ndim == 1 else -np.vecdot(shift, shift)


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
