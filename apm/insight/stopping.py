"""Rules for stopping: each looks at a learner and says whether it is time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.insight.advice import ROWS, predicted_outputs, remaining_bits
from apm.insight.replay import beliefs, sampled_rows
from channelcode._validation import integer, positive, probability


class StopRule(ABC):
    """A rule: `should_stop(learner)`, asked after each label."""

    @abstractmethod
    def should_stop(self, learner: Any) -> bool:
        """Whether to stop labelling now."""


@dataclass(frozen=True)
class StopAfter(StopRule):
    """Stop after n labelled rows.

    >>> from apm import Learner
    >>> learner = Learner([[1.0], [-1.0], [2.0]], seed=0)
    >>> learner.tell([0, 1], ["yes", "no"])
    >>> StopAfter(2).should_stop(learner), StopAfter(3).should_stop(learner)
    (True, False)
    """

    n: int

    def __post_init__(self) -> None:
        integer("n", self.n, least=1)

    def should_stop(self, learner: Any) -> bool:
        return len(learner.labelled) >= self.n


@dataclass(frozen=True)
class StopBelowBits(StopRule):
    """Stop when knowing the parameters would tell less than `bits` about the label of a row.

    The mean of I(theta; Y_x) over a sample of the pool, `remaining_bits` of `stop_advice`. It is
    the model's own opinion: a model that is wrong in kind is sure of itself too early.
    """

    bits: float

    def __post_init__(self) -> None:
        positive("bits", self.bits)

    def should_stop(self, learner: Any) -> bool:
        state, setup = learner._state, learner._setup
        return remaining_bits(state.belief, sampled_rows(state, ROWS, setup.seed)) < self.bits


@dataclass(frozen=True)
class StopWhenStable(StopRule):
    """Stop when the predictions have hardly changed for some time.

    On a sample of the pool the labels predicted now agree with those predicted `labels` labels ago,
    and those with the ones `labels` before that, and so on for `times` steps, each on a share of at
    least `agreement` of the rows (Bloodgood and Vijay-Shanker, 2009, with the share in place of
    kappa).
    """

    agreement: float = 0.99
    labels: int = 10
    times: int = 2

    def __post_init__(self) -> None:
        probability("agreement", self.agreement)
        integer("labels", self.labels, least=1)
        integer("times", self.times, least=1)

    def should_stop(self, learner: Any) -> bool:
        state, setup = learner._state, learner._setup
        total = len(state.journal)
        first = total - self.labels * self.times
        if first < 1:
            return False
        features = sampled_rows(state, ROWS, setup.seed)
        before = None
        for count, belief in beliefs(setup, state, first):
            if (count - first) % self.labels:
                continue
            now = belief.posterior.classes_[predicted_outputs(belief, features)]
            if before is not None and np.mean(now == before) < self.agreement:
                return False
            before = now
        return True
