"""How to split groups of equally probable messages in two: the ordered partition and SED.

A group is a number of messages of one level d, each of probability r^d / Z. A rule returns, for
each group, how many of its members go to S0, the messages that send the letter 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp2, floor, log2
from typing import NamedTuple

_DIGITS = 1 << 53
TIE = 1e-12  # two prefixes whose distance from one half differs by less are equally near


class Groups(NamedTuple):
    """Levels in increasing order, how many messages have each, and the mass of each group."""

    levels: tuple[int, ...]
    counts: tuple[int, ...]
    masses: tuple[float, ...]


def groups_of(levels: Sequence[int], counts: Sequence[int], log_ratio: float) -> Groups:
    """Groups with their masses: `count r^level / Z`, `log_ratio` = log2 r; the least level is 0.

    >>> groups_of((1, 2), (1, 2), -2.0).masses
    (0.666667, 0.333333)
    """
    base = levels[0]
    logs = [log2(count) + (level - base) * log_ratio for level, count in zip(levels, counts)]
    top = max(logs)
    weights = [exp2(value - top) for value in logs]
    total = sum(weights)
    masses = tuple(weight / total for weight in weights)
    return Groups(tuple(level - base for level in levels), tuple(counts), masses)


def others(groups: Groups) -> float:
    """The mass of all messages but one of the most probable."""
    first = groups.masses[0] * ((groups.counts[0] - 1) / groups.counts[0])
    return first + sum(groups.masses[1:])


class Partition(ABC):
    """A rule that splits the messages in two, given the groups."""

    code: int  # what the compiled simulation calls it

    @abstractmethod
    def split(self, groups: Groups) -> tuple[int, ...]:
        """How many members of each group go to S0."""


@dataclass(frozen=True)
class Ordered(Partition):
    """The most probable messages, as many as bring S0 nearest to one half; ties to the longer."""

    code = 0

    def split(self, groups: Groups) -> tuple[int, ...]:
        taken = [0] * len(groups.counts)
        before = 0.0
        for place, (count, mass) in enumerate(zip(groups.counts, groups.masses)):
            if before + mass >= 0.5 or place == len(taken) - 1:
                taken[place] = _nearest(count, (0.5 - before) / mass, TIE / mass)
                break
            taken[place] = count
            before += mass
        if sum(taken) == sum(groups.counts):  # by rounding alone: somebody must send the letter 1
            taken[-1] -= 1
        return tuple(taken)


@dataclass(frozen=True)
class SmallEnough(Partition):
    """SED: 0 <= P(S0) - P(S1) <= the least probability in S0 (Naghshvar, Javidi and Wigger).

    Move the least probable member of the heavier set until it holds. With `<` instead of `<=`
    there may be no such partition (.4, .2, .2, .2), and the moves would never end.
    """

    code = 1

    def split(self, groups: Groups) -> tuple[int, ...]:
        inside = list(groups.counts)
        difference, place = 1.0, len(inside) - 1
        while True:
            while inside[place] == 0:
                place -= 1
            count, mass = groups.counts[place], groups.masses[place]
            least = mass * (1 / count)  # a count may be beyond every float
            if difference <= least + TIE:
                return tuple(inside)
            moves = inside[place]
            if mass > 0.0 and (share := (difference - least) / 2.0 / mass) < 1.0:
                moves = min(moves, max(1, _at_least(count, share)))
            inside[place] -= moves
            difference -= 2.0 * (mass * (moves / count))
            if difference < 0.0:
                inside = [whole - part for whole, part in zip(groups.counts, inside)]
                difference, place = -difference, len(inside) - 1


def _nearest(count: int, share: float, slack: float) -> int:
    """The whole number nearest to `count * share`, at most `count`; near ties go up."""
    if share >= 1.0:
        return count
    if count < _DIGITS:
        return min(count, floor(count * (share + slack / 2) + 0.5))
    return min(count, (2 * count * int(share * _DIGITS) + _DIGITS) // (2 * _DIGITS))


def _at_least(count: int, share: float) -> int:
    """The least whole number that is not below `count * share`, but for rounding."""
    if count < _DIGITS:
        return ceil(count * share - 1e-9)
    return -(-count * int(share * _DIGITS) // _DIGITS)
