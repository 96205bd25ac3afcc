"""What the loop hands out: the rows that `ask` chose, the rounds of `run`, and their sum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from apm.belief import Belief
from apm.journal import ScoreSummary
from apm.posteriors.base import Posterior
from apm.posteriors.gaussian import MANY_FEATURES
from apm.selectors.ranking import Indices
from channelcode._validation import Array
from channelcode.measures import ScalarPool


class Rows(np.ndarray[Any, np.dtype[np.intp]]):
    """Row numbers of the pool, best first; an array, and a single one also serves as an integer.

    >>> rows = Rows.of([7])
    >>> int(rows), "abcdefgh"[rows], rows.tolist()
    (7, 'h', [7])
    """

    @classmethod
    def of(cls, indices: Any) -> Rows:
        """The given row numbers, `(n,)`, as `Rows`."""
        return np.asarray(indices, dtype=np.intp).view(cls)

    def __index__(self) -> int:
        if self.size != 1:
            raise TypeError(
                f"{self.size} rows are not one integer: take one of them, as in rows[0]"
            )
        return int(self.item())

    __int__ = __index__


@dataclass(frozen=True)
class Round:
    """One round of `Learner.run`, as its observer sees it.

    - `number`: 0, 1, ... in this run; `index`, `label`: the row asked and what was told;
    - `choice`: the rows that could be asked, their scores, and their laws if they were computed;
    - `before`, `after`: the posterior that chose, and the one with the label;
    - `select_seconds`, `update_seconds`: what `ask` and `tell` took by the clock of the run.
    """

    number: int
    index: int
    label: Any
    choice: Any = field(repr=False)
    before: Posterior = field(repr=False)
    after: Posterior = field(repr=False)
    select_seconds: float
    update_seconds: float


class Run(NamedTuple):
    """The rows that `Learner.run` asked, `(n,)`; the MAP weights after each, `(n, q)`, or None."""

    indices: Indices
    weights: Array | None


class Asked(NamedTuple):
    """The last selection, the belief that made it, and its time by row."""

    choice: Any
    belief: Belief
    seconds: float

    def summary(self, row: int) -> ScoreSummary:
        """The score of a chosen row beside those of the other candidates."""
        return ScoreSummary(*self.choice.numbers(row))

    def law(self, belief: Belief, features: Any, row: int) -> Any:
        """The induced law of a chosen row under the belief that chose it."""
        known = self.choice.law(row)
        return induced_law(belief, features, row) if known is None else known

    def largest_power(self, belief: Belief, radius: float | None) -> float | None:
        """A power that no candidate exceeds: their maximum, or B^2 (|Sigma|_F + |mu|^2).

        Where a matrix of the features' covariance would be large, its largest eigenvalue stands
        for the norm. None where neither is known: the laws were not computed, and l is not
        <theta, phi>.
        """
        known = self.choice.largest_power
        if known is not None:
            return known
        posterior = belief.posterior
        if radius is None or posterior.gives_samples:
            return None
        mean = np.asarray(posterior.mean)
        if mean.shape[-1] > MANY_FEATURES:
            spread = posterior.top_eigenvalue
        else:
            spread = float(np.linalg.norm(posterior.summed_covariance))
        return radius**2 * (spread + float(np.sum(np.square(mean))))


def induced_law(belief: Belief, features: Any, row: int) -> Any:
    """The induced law of a row under a belief, as a journal entry holds it."""
    laws = belief.push(features[row : row + 1])
    if isinstance(laws, ScalarPool):
        return float(laws.mean[0]), float(laws.variance[0])
    return laws[0]
