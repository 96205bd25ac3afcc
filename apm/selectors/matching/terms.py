"""APM's two terms, each as a selector of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.selectors.matching.apm import Matching
from apm.selectors.matching.effective_channel import remaining_slope
from apm.selectors.matching.target import Match, has_known_target, match, target_input
from apm.selectors.matching.views import as_choice, known_slope, known_view
from apm.selectors.ranking import Indices
from channelcode.measures import Pool


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
    by_row = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.channel)

    def needs_all_rows(self, belief: Belief) -> str | None:
        reason = super().needs_all_rows(belief) or known_view(self.channel)
        if reason is None and self.averaged:
            reason = known_slope(self.channel, belief)
        return reason

    def tile_budget(self, belief: Belief, X: Any, candidates: Indices, laws: Pool) -> float:
        view = as_choice(self.channel).view(belief, laws)
        return view.budget(self.power, belief, X, radius=self.radius)

    def match(self, belief: Belief, X: Any, candidates: Indices | None, laws: Pool) -> Match:
        view = as_choice(self.channel).view(belief, laws)
        mean = view.laws.mean
        if self.averaged:
            k = remaining_slope(view)
            mean = k * mean if mean.ndim == 1 else k[:, None] * mean
        none = np.zeros(len(laws))
        if self.solver is None and has_known_target(view.channel, view.laws):
            # the mean of such a target is zero whatever P is
            return Match(view.channel, view.laws, None, mean**2, none, 0.0)
        power = view.budget(self.power, belief, X, radius=self.radius)
        target = target_input(view.channel, power, solver=self.solver).input
        shift = mean - target.mean
        squared = shift**2 if shift.ndim == 1 else np.vecdot(shift, shift)
        return Match(view.channel, view.laws, power, squared, none, 0.0)


@dataclass(frozen=True)
class APMExplore(Matching):
    """APM's second term alone: `-W2^2(p_L - m, p*_L - m*)`, the paper's APM-LR-V.

    For logistic regression `-(sigma - sqrt(2P/pi))^2`, less the constant of `APM`, so that the
    scores of `APMExploit` and `APMExplore` add up to those of `APM`.
    """

    by_row = True

    def match(self, belief: Belief, X: Any, candidates: Indices | None, laws: Pool) -> Match:
        power = self.budget(belief, X, laws=laws)
        whole = match(belief.channel, laws, power, solver=self.solver)
        return replace(
            whole,
            centre=np.zeros(len(laws)),
            constant=whole.constant - whole.offset,
            offset=0.0,
        )
