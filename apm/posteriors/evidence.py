"""A prior precision that the labels choose: the one under which they are most probable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._validation import positive
from channelcode.errors import InvalidArgument, NotConverged

RATIO = 2**0.25  # between the precisions that are looked at
FIRST = 8  # of which every so many at first: a factor of 4
FLAT = 1e-9  # nats: evidence that varies by less says nothing about the precision


@dataclass(frozen=True)
class MaximumEvidence:
    """Choose the prior precision anew with every label, where their evidence is largest:

        lambda = argmax ln p(y | X, lambda),   lowest <= lambda <= highest.

    The evidence is `posterior.log_evidence`: a bound on the line (`VariationalLogistic`), Laplace's
    approximation for K classes (`Bohning`). Precisions are tried a factor of 2^(1/4) apart, all the
    range first in steps of 4, so the choice depends on the labels alone and not on their order. It
    costs about seventeen fits for every label. `start` is the precision before the first label,
    and that of the intercept, whose own is not chosen. `posterior.prior_precision` is the number in
    force.

    >>> from apm import VariationalLogistic
    >>> posterior = VariationalLogistic(MaximumEvidence())
    >>> X = [[2.0, 0.1], [-2.0, 0.3], [1.5, -0.2], [-1.0, 0.0], [0.2, 0.1]]
    >>> round(posterior.fit(X, [1, 0, 1, 0, 0]).prior_precision, 3)
    0.354
    """

    start: float = 1.0
    lowest: float = 1e-3
    highest: float = 1e3

    def __post_init__(self) -> None:
        for name in ("start", "lowest", "highest"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if not self.lowest <= self.start <= self.highest:
            rule = f"must be from {self.lowest:g} to {self.highest:g}"
            raise InvalidArgument("start", rule, self.start)

    def to_array(self) -> np.ndarray:
        """The three numbers, `(3,)`, for a file."""
        return np.array([self.start, self.lowest, self.highest])

    @property
    def precisions(self) -> np.ndarray:
        """The precisions that are tried, rising: `start` and those a power of RATIO from it."""
        steps = [np.log(end / self.start) / np.log(RATIO) for end in (self.lowest, self.highest)]
        places = np.arange(np.ceil(steps[0] - 1e-9), np.floor(steps[1] + 1e-9) + 1)
        return np.clip(self.start * RATIO**places, self.lowest, self.highest)

    def applied(self, posterior: Any) -> Any:
        """The posterior of the same data at the precision of the largest evidence."""
        found = _Search(posterior, self.precisions)
        last = len(found.precisions) - 1
        places = sorted({*range(0, last, FIRST), last}, reverse=True)
        values = [found.evidence(place) for place in places]
        if max(values) - min(values) <= FLAT:
            return posterior.with_precision(self.start)
        best, step = places[int(np.argmax(values))], FIRST
        while step > 1:
            step //= 2
            near = [place for place in (best, best + step, best - step) if 0 <= place <= last]
            best = near[int(np.argmax([found.evidence(place) for place in near]))]
        return found.at(best)


class WithEvidence(ABC):
    """What a posterior writes so that its prior precision can be chosen by `MaximumEvidence`."""

    __slots__ = ()

    @property
    @abstractmethod
    def log_evidence(self) -> float:
        """ln p(y | X) in nats, as nearly as this posterior knows it; zero for the prior."""

    def with_precision(self, prior_precision: float) -> Any:
        """The posterior of the same labels under another prior precision of the features.

        >>> from apm import VariationalLogistic
        >>> VariationalLogistic(4.0).fit([[1.0]], [1]).with_precision(1.0).prior_precision
        1.0
        """
        own: Any = self
        new = own._evolve(_prior_precision=positive("prior_precision", prior_precision))
        if own.num_features is not None:
            new._set(_precision=new._prior_diagonal(own.num_features))
            new._set(_solution=new._solve(self, 0))
        return new


class _Search:
    """Posteriors of the same data at other precisions, each started from the last."""

    def __init__(self, posterior: Any, precisions: np.ndarray) -> None:
        self.last, self.precisions = posterior, precisions.tolist()
        self.known: dict[int, float] = {}

    def at(self, place: int) -> Any:
        self.last = self.last.with_precision(self.precisions[place])
        return self.last

    def evidence(self, place: int) -> float:
        """The evidence; where there is no solution, nothing is to be found either."""
        if place not in self.known:
            try:
                self.known[place] = self.at(place).log_evidence
            except NotConverged:
                self.known[place] = -np.inf
        return self.known[place]
