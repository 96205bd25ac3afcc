"""The state of posterior matching: the posterior of the message in intervals of equal density."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import exp2, log2
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array, number
from channelcode.errors import InvalidArgument
from channelcode.feedback.intervals.cells import (
    BELOW,
    DENSITY,
    LOG_ZERO,
    LOWER,
    PEAK,
    UPPER,
    mass,
    members,
    push,
    top_mass,
)
from channelcode.feedback.intervals.regions import Region, Regions
from channelcode.feedback.intervals.zipper import Parts, Zipper
from channelcode.feedback.scheme import State
from channelcode.measures.base import Immutable

# Neighbours are one interval if their log2 densities differ by less: rounding.
SAME_DENSITY = 1e-10


class Intervals(NamedTuple):
    """The posterior as a step function: `ends` (n + 1 of them, increasing) and `masses` `(n,)`.

    Ends are exact: integers for a message among finitely many, and fractions otherwise.
    """

    ends: tuple[Any, ...]
    masses: Array


class MatchingState(State, Immutable):
    """The posterior of the message after `time` uses, cut for the next one. Immutable.

    A state may be updated more than once: each future starts from it anew.
    """

    __slots__ = ("_parts",)
    # in one slot, because one is filled for every use: core (a Zipper's fields, or Regions), time,
    # messages
    _parts: tuple[Parts | Regions, int, int | None]

    @property
    def time(self) -> int:
        return self._parts[1]

    @property
    def messages(self) -> int | None:
        return self._parts[2]

    @property
    def _core(self) -> Zipper | Regions:
        """The intervals, and where they are cut."""
        core = self._parts[0]
        return core if isinstance(core, Regions) else Zipper._make(core)

    @property
    def cuts(self) -> tuple[Any, ...]:
        """Where one letter ends and the next begins, exactly: integers or fractions."""
        return tuple(self._place(cut) for cut in self._core.cuts)

    @property
    def intervals(self) -> Intervals:
        """The intervals of equal density from left to right (see `Intervals`)."""
        ends, masses, _ = self._steps()
        return Intervals(tuple(self._place(end) for end in ends), np.array(masses))

    @property
    def log_densities(self) -> Array:
        """log2 of the density of each interval, relative to the uniform law; -inf without mass."""
        return np.array(self._steps()[2])

    @property
    def best(self) -> Any:
        """The most probable message; for a continuous one the middle of the densest interval."""
        if self.messages is None:
            ends, place = self._densest()
            return Fraction(ends[place] + ends[place + 1], 2 * self._core.size)
        if self._core.bits == 0:
            return self._peak()[1]
        return max(self._cells(), key=lambda cell: cell[1])[0]

    @property
    def probability(self) -> float:
        """The posterior probability of `best`; for a continuous message of its interval."""
        if self.messages is not None and self._core.bits:
            return max(cell[1] for cell in self._cells())
        if self.messages is None:
            return float(self.intervals.masses[self._densest()[1]])
        density, _, _ = self._peak()
        share = exp2(min(density - log2(self._core.size), 0.0))
        # 1 - error_bound is the better of the two near one; both agree elsewhere
        return 1.0 - self.error_bound if share > 0.5 else share

    @property
    def error_bound(self) -> float:
        if self.messages is None:
            rule = "needs finitely many messages: start(messages=M)"
            raise InvalidArgument("error_bound", rule, "a continuous message")
        if self._core.bits:
            cells = self._cells()
            likely = max(cells, key=lambda cell: cell[1])[0]
            return sum(weight * (count - (at == likely)) for at, weight, count in cells)
        density, lower, upper = self._peak()
        share = exp2(min(density - log2(self._core.size), 0.0))
        if share < 0.5:
            return 1.0 - share
        if upper - lower == 1:
            stacks = self._core.stacks()
            for place, (stack, scale, _) in enumerate(stacks):
                if stack is not None and (stack[LOWER], stack[UPPER]) == (lower, upper):
                    rest = mass(stack[BELOW], scale)
                    return rest + sum(
                        mass(other, units)
                        for j, (other, units, _) in enumerate(stacks)
                        if j != place
                    )
        ends, masses, _ = self._steps()
        place = bisect_right(ends, lower) - 1
        width = ends[place + 1] - ends[place]
        others = sum(masses[:place]) + sum(masses[place + 1 :])
        return others + masses[place] * ((width - 1) / width)

    @property
    def entropy_bits(self) -> float:
        """The entropy of the message in bits; for a continuous one the differential entropy.

        The latter is 0 before the first use and falls by I(p, W) per use on average.
        """
        if self.messages is not None and self._core.bits:
            return -sum(
                count * weight * log2(weight) for _, weight, count in self._cells() if weight > 0
            )
        _, masses, densities = self._steps()
        size = 0.0 if self.messages is None else log2(self.messages)
        return sum(m * (size - d) for m, d in zip(masses, densities, strict=True) if m > 0)

    def quantile(self, u: float) -> Any:
        """The least message at which the posterior's distribution function reaches u in [0, 1].

        An integer; a float in [0, 1] for a continuous message.
        """
        level = number("u", u)
        if not 0.0 <= level <= 1.0:
            raise InvalidArgument("u", "must lie in [0, 1]", u)
        ends, masses, _ = self._steps()
        below, last = 0.0, 0
        for place, weight in enumerate(masses):
            if weight > 0:
                last = place
                if below + weight >= level:
                    break
                below += weight
        share = Fraction(min(max((level - below) / masses[last], 0.0), 1.0))
        point = ends[last] + share * (ends[last + 1] - ends[last])
        if self.messages is None:
            return float(point / self._core.size)
        # the message whose cell ends at the point or contains it
        place = -(-point.numerator // point.denominator) - 1
        return max(place, ends[last]) >> self._core.bits

    # Inside -----------------------------------------------------------------------------------

    def _place(self, end: int) -> Any:
        """A place of the axis in messages, or in [0, 1] for a continuous message."""
        if self.messages is None:
            return Fraction(end, self._core.size)
        return end if self._core.bits == 0 else Fraction(end, 1 << self._core.bits)

    def _steps(self) -> tuple[list[int], list[float], list[float]]:
        """Ends, masses and log2 densities; neighbours of equal density are one interval."""
        ends, masses, densities = [0], [], []
        for stack, scale, top_is_right in self._core.stacks():
            cells = members(stack)
            for cell in reversed(cells) if top_is_right else cells:
                density = cell[DENSITY] + scale[2] - self._core.log_chance
                weight = top_mass(cell, scale)
                if densities and _same(densities[-1], density):
                    ends[-1] = cell[UPPER]
                    masses[-1] += weight
                    continue
                ends.append(cell[UPPER])
                masses.append(weight)
                densities.append(density)
        return ends, masses, densities

    def _densest(self) -> tuple[list[int], int]:
        """The ends of the intervals, and the place of the densest."""
        ends, _, densities = self._steps()
        return ends, max(range(len(densities)), key=densities.__getitem__)

    def _peak(self) -> tuple[float, int, int]:
        """log2 density, lower and upper end of the densest interval."""
        best = (LOG_ZERO, 0, self._core.size)
        for stack, scale, _ in self._core.stacks():
            if stack is not None:
                densest = stack[PEAK] or stack
                if densest[DENSITY] + scale[2] > best[0]:
                    best = (densest[DENSITY] + scale[2], densest[LOWER], densest[UPPER])
        return best[0] - self._core.log_chance, best[1], best[2]

    def _cells(self) -> list[tuple[int, float, int]]:
        """Runs of messages of equal probability, where ends lie within messages too."""
        ends, masses, _ = self._steps()
        bits = self._core.bits
        runs: list[tuple[int, float, int]] = []
        partial: dict[int, float] = {}
        for lower, upper, weight in zip(ends[:-1], ends[1:], masses, strict=True):
            first, last = -(-lower >> bits), upper >> bits  # whole messages in between
            width = upper - lower
            if first > last:
                partial[last] = partial.get(last, 0.0) + weight
                continue
            if last > first:
                runs.append((first, weight * ((1 << bits) / width), last - first))
            if (head := (first << bits) - lower) > 0:
                partial[first - 1] = partial.get(first - 1, 0.0) + weight * (head / width)
            if (tail := upper - (last << bits)) > 0:
                partial[last] = partial.get(last, 0.0) + weight * (tail / width)
        return runs + [(at, weight, 1) for at, weight in partial.items()]

    def __reduce__(self) -> Any:
        """Stacks are nested as deep as they are long: they go to a pickle as flat lists."""
        return _restored, (_flat(self._core), self.time, self.messages)

    def __repr__(self) -> str:
        kind = "continuous" if self.messages is None else f"2^{log2(self.messages):g} messages"
        return f"{type(self).__name__}({kind}, time={self.time})"


def _same(first: float, second: float) -> bool:
    return first == second or abs(first - second) < SAME_DENSITY


def _flat(core: Zipper | Regions) -> tuple[Any, ...]:
    """A core whose stacks are lists of cells, from the bottom up."""

    def listed(stack: Any) -> Any:
        return None if stack is None else [cell[:5] for cell in reversed(members(stack))]

    if isinstance(core, Zipper):
        return (listed(core[0]), *core[1:3], listed(core[3]), *core[4:])
    return ([(listed(front), listed(back), scale) for front, back, scale in core[0]], *core[1:])


def _restored(flat: tuple[Any, ...], time: int, messages: int | None) -> MatchingState:
    def stacked(cells: Any) -> Any:
        stack = None
        for cell in cells or ():
            stack = push(stack, *cell)
        return stack

    if isinstance(flat[0], list) and flat[0] and len(flat[0][0]) == 3:
        pieces = tuple(Region(stacked(f), stacked(b), scale) for f, b, scale in flat[0])
        return matching_state(Regions(pieces, *flat[1:]), time, messages)
    parts: tuple[Any, ...] = (stacked(flat[0]), *flat[1:3], stacked(flat[3]), *flat[4:])
    core = Zipper(*parts)
    return matching_state(core, time, messages)


_fresh = object.__new__
_fill = MatchingState._parts.__set__  # type: ignore[attr-defined]


def matching_state(core: Parts | Regions, time: int, messages: int | None) -> MatchingState:
    """A state from its parts, without ceremony: one is made for every use."""
    state = _fresh(MatchingState)
    _fill(state, (core, time, messages))
    return state
