"""Rows with the experts who are asked about them, and the records of what they said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.encoders.experts import Chosen
from apm.rounds import Rows
from channelcode._validation import Array


@dataclass(frozen=True)
class Answered:
    """One event of a learner with experts: the row, who was asked, the price, and what was said.

    `bits` is what the answer could tell of theta just before it came; `cost` is zero for events
    that are not answers.
    """

    index: int
    expert: str
    label: Any
    cost: float
    event: str
    bits: float | None


class Pairs(Rows):
    """Row numbers of the pool, best first, with `experts`, the name of whom to ask for each.

    >>> pairs = Pairs.of([4, 7], ["doctor", "student"])
    >>> list(pairs.pairs()), pairs[1:].experts
    ([(4, 'doctor'), (7, 'student')], ('student',))
    """

    experts: tuple[str, ...]

    @classmethod
    def of(cls, indices: Any, experts: Sequence[str] = ()) -> Pairs:
        """Row numbers `(n,)` and names, as many."""
        pairs = np.asarray(indices, dtype=np.intp).view(cls)
        pairs.experts = tuple(experts)
        return pairs

    def pairs(self) -> list[tuple[int, str]]:
        """Row and expert, one by one."""
        return list(zip(self.tolist(), self.experts, strict=True))

    def __array_finalize__(self, other: Any) -> None:
        self.experts = ()  # of an array made from this one nobody knows whom to ask

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, Pairs) and found.ndim == 1:
            names = np.array(self.experts, dtype=object)
            found.experts = tuple(names[key]) if len(names) == len(self) else ()
        return found

    def __copy__(self) -> Pairs:
        return Pairs.of(np.array(self), self.experts)

    def __deepcopy__(self, memo: Any) -> Pairs:
        return Pairs.of(np.array(self), self.experts)

    def __reduce__(self) -> Any:
        return Pairs.of, (np.asarray(self), self.experts)


def pair_rows(X: Array, channel: Chosen) -> Array:
    """Rows (x, e), all experts of the first example, then of the second."""
    count = len(channel.experts)
    numbers = np.tile(np.arange(count, dtype=np.float64), len(X))
    return np.column_stack((np.repeat(X, count, axis=0), numbers))
