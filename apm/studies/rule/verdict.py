"""From areas to a decision, by rules fixed before the confirming run.

In each condition a candidate is held against its best rival there, by mean area over the same
seeds: paired differences, a two-sided t test, Holm's correction over the conditions of its kind.
A condition is *lost* if the corrected test says so, and *level or ahead* if the lower end of the
90 % interval lies above -0.005 (the equivalence margin, one side of it). The mean lead is over data
sets, not conditions, with a bootstrap that draws data sets.

The winner of a kind is the candidate with the fewest lost conditions; then the one with more level
or ahead; then the one with the larger mean lead. It becomes the default if it is not the present
rule and its mean difference to the present rule, over data sets, is above zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apm.studies.engine.statistics import Interval, interval_of, resampled_means
from apm.studies.rule.methods import CANDIDATES, PRESENT, RIVALS
from apm.studies.rule.protocol import Condition
from channelcode._validation import Array

MARGIN = 0.005  # of area: less is level
LEVEL = 0.05  # of Holm's test, over the conditions of a kind

Areas = dict[Condition, dict[str, Array]]


@dataclass(frozen=True)
class Comparison:
    """A candidate and the best rival of one condition: paired difference of areas."""

    condition: Condition
    rival: str
    difference: Interval  # 90 %, by Student's t
    p_value: float
    lost: bool = False  # after Holm
    won: bool = False

    @property
    def level_or_ahead(self) -> bool:
        """Whether a loss of more than the margin is excluded."""
        return self.difference.low > -MARGIN


@dataclass(frozen=True)
class Standing:
    """How a candidate fares over the conditions of its kind."""

    candidate: str
    comparisons: tuple[Comparison, ...]
    lead: Interval  # over data sets, 95 %
    against_present: Interval

    @property
    def lost(self) -> int:
        """Conditions lost after Holm's correction."""
        return sum(each.lost for each in self.comparisons)

    @property
    def won(self) -> int:
        """Conditions won after Holm's correction."""
        return sum(each.won for each in self.comparisons)

    @property
    def level(self) -> int:
        """Conditions where it is level or ahead by the equivalence test."""
        return sum(each.level_or_ahead for each in self.comparisons)


@dataclass(frozen=True)
class Decision:
    """The winner of a kind and whether it becomes the default."""

    winner: str
    change: bool
    standings: tuple[Standing, ...]


def standings(areas: Areas, kind: str) -> tuple[Standing, ...]:
    """Every candidate of a kind against the best rival of each condition."""
    there = {c: by for c, by in areas.items() if c.kind == kind}
    return tuple(_standing(name, there, kind) for name in CANDIDATES[kind])


def decide(areas: Areas, kind: str) -> Decision:
    """The winner by the rules above."""
    table = standings(areas, kind)
    best = min(table, key=lambda s: (s.lost, -s.level, -s.lead.estimate))
    change = best.candidate != PRESENT and best.against_present.estimate > 0
    return Decision(best.candidate, change, table)


def holm(p_values: Array, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which hypotheses Holm's step-down test rejects at `level`, `(n,)`.

    >>> holm(np.array([0.001, 0.04, 0.03]))
    array([ True, False, False])
    """
    order = np.argsort(p_values, kind="stable")
    limits = level / (len(p_values) - np.arange(len(p_values)))
    passed = np.cumprod(p_values[order] <= limits).astype(bool)
    rejected = np.empty(len(p_values), dtype=bool)
    rejected[order] = passed
    return rejected


def best_rival(by_method: dict[str, Array], kind: str) -> str:
    """The rival with the largest mean area in a condition."""
    return max(RIVALS[kind], key=lambda name: float(by_method[name].mean()))


def mean_difference(areas: Areas, kind: str, one: str, other: str) -> Interval:
    """The mean difference of area of two methods over the data sets of a kind, 95 %."""
    gaps = [
        (condition.dataset, float((by[one] - by[other]).mean()))
        for condition, by in areas.items()
        if condition.kind == kind
    ]
    return _over_data_sets(gaps)


def _standing(candidate: str, there: Areas, kind: str) -> Standing:
    first = [_compare(candidate, c, by, best_rival(by, kind)) for c, by in there.items()]
    rejected = holm(np.array([each.p_value for each in first]))
    comparisons = tuple(
        Comparison(
            each.condition,
            each.rival,
            each.difference,
            each.p_value,
            lost=bool(no) and each.difference.estimate < 0,
            won=bool(no) and each.difference.estimate > 0,
        )
        for each, no in zip(first, rejected, strict=True)
    )
    lead = [(each.condition.dataset, each.difference.estimate) for each in comparisons]
    own = mean_difference(there, kind, candidate, PRESENT)
    return Standing(candidate, comparisons, _over_data_sets(lead), own)


def _compare(candidate: str, condition: Condition, by: dict[str, Array], rival: str) -> Comparison:
    from scipy.special import stdtr, stdtrit

    difference = by[candidate] - by[rival]
    count, mean = len(difference), float(difference.mean())
    spread = float(difference.std(ddof=1)) / np.sqrt(count) if count > 1 else np.inf
    if spread == 0.0:
        return Comparison(condition, rival, Interval(mean, mean, mean), 1.0 if mean == 0.0 else 0.0)
    width = float(stdtrit(count - 1, 0.95)) * spread if count > 1 else np.inf
    p_value = 2.0 * float(stdtr(count - 1, -abs(mean) / spread)) if count > 1 else 1.0
    return Comparison(condition, rival, Interval(mean, mean - width, mean + width), p_value)


def _over_data_sets(values: list[tuple[str, float]]) -> Interval:
    """The mean over data sets, each the mean of its conditions, with a bootstrap of data sets."""
    names = sorted({name for name, _ in values})
    means = np.array([float(np.mean([v for n, v in values if n == each])) for each in names])
    draws = resampled_means(means)
    return interval_of(float(means.mean()), draws, count=len(means))
