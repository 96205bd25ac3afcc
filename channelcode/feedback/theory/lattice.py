"""The mean number of uses of a code with few messages, exactly: the law of its posteriors.

What matters of a posterior is its shape. The law of the shapes is carried forward from use to use;
shapes that coincide are joined, and what has ended leaves the law.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from channelcode.feedback.choices import Stop
from channelcode.feedback.group_code import GroupCode
from channelcode.feedback.groups.combinadics import weight_counts
from channelcode.feedback.groups.partition import Groups, groups_of, others

# Shapes less probable than this are dropped, and their mass is added up; the larger one where
# there are many shapes.
FORGOTTEN, FORGOTTEN_OF_MANY, MANY = 1e-17, 1e-15, 3000


class Exact(NamedTuple):
    """Mean uses, probability of a wrong decision, mass dropped, and the mean square of the uses."""

    mean: float
    error: float
    dropped: float
    second_moment: float


def carried(
    start: Any,
    stop: Stop,
    shape: Callable[[Any], Hashable],
    update: Callable[[Any, int], Any],
    predictive: Callable[[Any], Any],
    *,
    most_shapes: int,
    most_uses: int,
) -> Exact | None:
    """The law of the shapes until it has ended; None if there are too many shapes or uses."""
    alive: dict[Hashable, tuple[float, Any]] = {shape(start): (1.0, start)}
    mean = error = dropped = second = 0.0
    while alive:
        following: dict[Hashable, tuple[float, Any]] = {}
        least = FORGOTTEN_OF_MANY if len(alive) > MANY else FORGOTTEN
        for chance, state in alive.values():
            if stop.done(state):
                mean += chance * state.time
                second += chance * state.time**2
                error += chance * state.error_bound
                continue
            for output, likely in enumerate(predictive(state)):
                mass = chance * float(likely)
                if mass < least:
                    dropped += mass
                    continue
                after = update(state, output)
                key = shape(after)
                held = following.get(key)
                following[key] = (mass, after) if held is None else (held[0] + mass, held[1])
        if len(following) > most_shapes:
            return None
        alive = following
        if alive and next(iter(alive.values()))[1].time > most_uses:
            return None
    return Exact(mean, error, dropped, second)


class Shape(NamedTuple):
    """A group code's state without its members: all that the number of uses depends on."""

    scheme: GroupCode
    groups: Groups
    time: int
    free: int  # bits of a systematic start that are not sent yet

    @property
    def error_bound(self) -> float:
        """The probability that the most probable message is wrong."""
        return others(self.groups)

    def key(self) -> Hashable:
        """What makes two shapes the same."""
        return self.groups.levels, self.groups.counts, self.free

    def predictive(self) -> tuple[float, float]:
        """The law of the next output."""
        if self.free:
            return 0.5, 0.5
        e = self.scheme.crossover
        _, counts, masses = self.groups
        inside = self.scheme.partition.split(self.groups)
        first = sum(m * (i / c) for m, i, c in zip(masses, inside, counts, strict=True))
        return first * (1 - e) + (1 - first) * e, first * e + (1 - first) * (1 - e)

    def after(self, output: int) -> Shape:
        """The shape after an output."""
        if self.free:
            free = self.free - 1
            counts = [count << free for count in weight_counts(self.time + 1)]
            groups = groups_of(range(len(counts)), counts, self.scheme.log_ratio)
            return Shape(self.scheme, groups, self.time + 1, free)
        merged: dict[int, int] = {}
        inside = self.scheme.partition.split(self.groups)
        for level, count, first in zip(self.groups.levels, self.groups.counts, inside, strict=True):
            for side, number in ((0, first), (1, count - first)):
                if number:
                    place = level + (side != output)
                    merged[place] = merged.get(place, 0) + number
        levels = sorted(merged)
        groups = groups_of(levels, [merged[d] for d in levels], self.scheme.log_ratio)
        return Shape(self.scheme, groups, self.time + 1, 0)


def shape_of(scheme: GroupCode, messages: int) -> Shape:
    """The shape before the first use."""
    scheme.start(messages=messages)  # refuses what it cannot start with
    free = messages.bit_length() - 1 if scheme.systematic else 0
    return Shape(scheme, groups_of((0,), (messages,), scheme.log_ratio), 0, free)
