"""What the paper says in words, judged by this run: held, not held, or not resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from apm.studies.engine.statistics import Interval
from apm.studies.paper.results import Sheet

Verdict = Literal["held", "not held", "not resolved", "not run"]
Sheets = dict[str, Sheet]
MARGIN = 0.01  # "comparable": mean accuracies within one point of each other


@dataclass(frozen=True)
class Finding:
    """A claim with its verdict: the estimate and interval that decided, and what they measure."""

    claim: str
    place: str
    verdict: Verdict
    number: Interval | None
    measure: str


def exceeds(interval: Interval) -> Verdict:
    """Held if the interval lies above zero, not held if below, else not resolved.

    >>> exceeds(Interval(0.02, 0.01, 0.03)), exceeds(Interval(0.0, -0.1, 0.1))
    ('held', 'not resolved')
    """
    if interval.low > 0:
        return "held"
    return "not held" if interval.high < 0 else "not resolved"


def comparable(interval: Interval, margin: float = MARGIN) -> Verdict:
    """Held if the interval lies within the margin, not held if outside, else not resolved.

    >>> comparable(Interval(0.001, -0.004, 0.006)), comparable(Interval(0.05, 0.04, 0.06))
    ('held', 'not held')
    """
    if -margin <= interval.low and interval.high <= margin:
        return "held"
    return "not held" if interval.low > margin or interval.high < -margin else "not resolved"


def every(pairs: list[tuple[str, Interval]], judge: Callable[[Interval], Verdict]) -> tuple[
    Verdict, str, Interval
]:  # fmt: skip
    """The verdict on a claim about several pairs, and the pair that decides it.

    One pair that fails refutes the claim; one that is not resolved leaves it so.
    """
    order: dict[Verdict, int] = {"not held": 0, "not resolved": 1, "held": 2, "not run": 3}
    size = (lambda i: i.estimate) if judge is exceeds else (lambda i: -abs(i.estimate))
    label, worst = min(pairs, key=lambda pair: (order[judge(pair[1])], size(pair[1])))
    return judge(worst), label, worst
