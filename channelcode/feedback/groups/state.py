"""The state of a group code: how many messages have each posterior, and which they are."""

from __future__ import annotations

from math import log2
from typing import Any

from channelcode.feedback.groups.combinadics import place_of, weight_counts, weight_starts, word_at
from channelcode.feedback.groups.partition import Groups, groups_of, others
from channelcode.feedback.scheme import State
from channelcode.measures.base import Immutable

Ranges = tuple[tuple[int, int], ...]  # half-open, of places on the axis of messages


class GroupState(State, Immutable):
    """The posterior after `time` uses, split for the next one. Immutable.

    `groups` has the levels, counts and masses; `members` the places of the messages of each group,
    as ranges. A place is the message itself, or after a systematic start the place of its error
    pattern (`combinadics`). While the bits themselves are sent there is one pattern a prefix.
    """

    __slots__ = ("_groups", "_inside", "_members", "_messages", "_prefix", "_scheme", "_time")
    _scheme: Any
    _messages: int
    _time: int
    _groups: Groups | None
    _inside: tuple[int, ...]
    _members: tuple[Ranges, ...]
    _prefix: int | None

    @property
    def time(self) -> int:
        return self._time

    @property
    def messages(self) -> int:
        return self._messages

    @property
    def groups(self) -> Groups:
        """Levels, counts and masses of the groups, the most probable first."""
        if self._groups is not None:
            return self._groups
        free = self.bits - self._time  # bits not sent yet: every pattern that often
        counts = [count << free for count in weight_counts(self._time)]
        return groups_of(range(len(counts)), counts, self._scheme.log_ratio)

    @property
    def bits(self) -> int:
        """log2 of the number of messages, rounded down."""
        return self._messages.bit_length() - 1

    @property
    def best(self) -> int:
        """The most probable message (the first of them)."""
        if self._groups is None:
            return (self._prefix or 0) << (self.bits - self._time)
        return self._message(self._members[0][0][0])

    @property
    def probability(self) -> float:
        return 1.0 - self.error_bound if self.error_bound < 0.5 else self._share(0)

    @property
    def error_bound(self) -> float:
        return others(self.groups)

    @property
    def entropy_bits(self) -> float:
        groups = self.groups
        parts = zip(groups.counts, groups.masses, strict=True)
        return sum(mass * (log2(count) - log2(mass)) for count, mass in parts if mass > 0)

    def posterior(self, message: int) -> float:
        """The probability of one message."""
        if self._groups is None:
            sent = message >> (self.bits - self._time)
            return self._share((sent ^ (self._prefix or 0)).bit_count())
        return self._share(self._group(self._place(message))[0])

    # Inside -----------------------------------------------------------------------------------

    def _share(self, group: int) -> float:
        return self.groups.masses[group] * (1 / self.groups.counts[group])

    def _place(self, message: int) -> int:
        """The place of a message on the axis that the ranges are on."""
        return message if self._prefix is None else place_of(message ^ self._prefix, self.bits)

    def _message(self, place: int) -> int:
        return place if self._prefix is None else word_at(place, self.bits) ^ self._prefix

    def _group(self, place: int) -> tuple[int, int]:
        """The group of a place, and how many of its members come before it."""
        for group, ranges in enumerate(self._members):
            before = 0
            for first, last in ranges:
                if first <= place < last:
                    return group, before + place - first
                before += last - first
        raise LookupError(place)  # no place is in no group

    def letter(self, message: int) -> int:
        """0 if the message is in S0, else 1."""
        if self._groups is None:
            return message >> (self.bits - self._time - 1) & 1
        group, before = self._group(self._place(message))
        return 0 if before < self._inside[group] else 1

    def induced(self) -> tuple[float, float]:
        """The mass of S0 and of S1."""
        if self._groups is None:
            return 0.5, 0.5
        groups = self._groups
        parts = zip(groups.masses, self._inside, groups.counts, strict=True)
        first = sum(mass * (inside / count) for mass, inside, count in parts)
        parts = zip(groups.masses, self._inside, groups.counts, strict=True)
        second = sum(mass * ((count - inside) / count) for mass, inside, count in parts)
        return first, second

    def after(self, output: int) -> GroupState:
        """The state after an output."""
        if self._groups is None:
            prefix = (self._prefix or 0) << 1 | output
            if self._time + 1 < self.bits:
                return self._evolve(_time=self._time + 1, _prefix=prefix)
            return self._systematic(prefix)
        merged: dict[int, tuple[int, Ranges]] = {}
        for level, count, inside, ranges in zip(
            self._groups.levels, self._groups.counts, self._inside, self._members, strict=True
        ):
            first = second = ranges
            if 0 < inside < count:
                first, second = divided(ranges, inside)
            for side, number, part in ((0, inside, first), (1, count - inside, second)):
                if number:
                    place = level + (side != output)
                    held, kept = merged.get(place, (0, ()))
                    merged[place] = (held + number, joined(kept, part))
        levels = sorted(merged)
        groups = groups_of(levels, [merged[d][0] for d in levels], self._scheme.log_ratio)
        members = tuple(merged[d][1] for d in levels)
        return self._evolve(
            _time=self._time + 1,
            _groups=groups,
            _members=members,
            _inside=self._scheme.partition.split(groups),
        )

    def _systematic(self, prefix: int) -> GroupState:
        """The groups once all bits were sent: the words at each distance from what was heard."""
        k = self.bits
        starts = weight_starts(k)
        groups = groups_of(range(k + 1), weight_counts(k), self._scheme.log_ratio)
        return self._evolve(
            _time=k,
            _prefix=prefix,
            _groups=groups,
            _members=tuple(((starts[d], starts[d + 1]),) for d in range(k + 1)),
            _inside=self._scheme.partition.split(groups),
        )

    def _evolve(self, **changes: Any) -> GroupState:
        new = object.__new__(GroupState)
        new._set(**{name: getattr(self, name) for name in GroupState.__slots__} | changes)
        return new

    def __repr__(self) -> str:
        return f"GroupState(2^{log2(self._messages):g} messages, time={self._time})"


def group_state(scheme: Any, messages: int, systematic: bool) -> GroupState:
    """The state before the first use."""
    state = object.__new__(GroupState)
    groups, members, inside = None, (), ()
    if not systematic:
        groups = groups_of((0,), (messages,), scheme.log_ratio)
        members, inside = (((0, messages),),), scheme.partition.split(groups)
    state._set(
        _scheme=scheme, _messages=messages, _time=0, _groups=groups, _inside=inside,
        _members=members, _prefix=0 if systematic else None,
    )  # fmt: skip
    return state


def divided(ranges: Ranges, count: int) -> tuple[Ranges, Ranges]:
    """The first `count` places of the ranges, and the rest.

    >>> divided(((0, 3), (7, 9)), 4)
    (((0, 3), (7, 8)), ((8, 9),))
    """
    first: list[tuple[int, int]] = []
    rest: list[tuple[int, int]] = []
    for lower, upper in ranges:
        middle = min(upper, lower + count)
        count -= middle - lower
        if middle > lower:
            first.append((lower, middle))
        if upper > middle:
            rest.append((middle, upper))
    return tuple(first), tuple(rest)


def joined(first: Ranges, second: Ranges) -> Ranges:
    """Two lists of ranges as one; ranges that touch in sequence become one."""
    if first and second and first[-1][1] == second[0][0]:
        return (*first[:-1], (first[-1][0], second[0][1]), *second[1:])
    return first + second
