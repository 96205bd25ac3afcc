"""Any number of letters: a double-ended queue of intervals between each pair of cuts.

Each queue is two stacks back to back under one scale. An output multiplies the scales; then the
cuts walk, from left to right, each to its quantile. An interval is touched when a cut passes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from channelcode.feedback.intervals.cells import (
    BELOW,
    LOG_ZERO,
    LOWER,
    UNIT,
    UPPER,
    WEIGHT,
    Cell,
    Scale,
    mass,
    members,
    moved,
    part,
    push,
    refined,
    scaled,
    top_mass,
)
from channelcode.feedback.intervals.zipper import DULL, FINE, SLACK


class Region(NamedTuple):
    """The intervals between two cuts: `front` has the leftmost on top, `back` the rightmost."""

    front: Cell | None
    back: Cell | None
    scale: Scale

    @property
    def mass(self) -> float:
        """The posterior mass."""
        return mass(self.front, self.scale) + mass(self.back, self.scale)

    def end(self, *, right: bool) -> Region:
        """The same intervals, with one on top of the stack at the given end."""
        near, far = (self.back, self.front) if right else (self.front, self.back)
        if near is not None or far is None:
            return self
        cells = members(far)  # from the far end to the near one
        half = len(cells) // 2
        near = _stacked(cells[half:])
        far = _stacked(cells[:half][::-1])
        return Region(far, near, self.scale) if right else Region(near, far, self.scale)


class Regions(NamedTuple):
    """The posterior: one region a piece of the axis, and the axis (see `Zipper`)."""

    pieces: tuple[Region, ...]
    masses: tuple[float, ...]
    cuts: tuple[int, ...]
    size: int
    bits: int
    log_chance: float

    def stacks(self) -> tuple[tuple[Cell | None, Scale, bool], ...]:
        """From left to right: stack, scale, and whether its top is its right end."""
        return tuple(
            (stack, piece.scale, right)
            for piece in self.pieces
            for stack, right in ((piece.front, False), (piece.back, True))
        )


def begin(quantiles: Sequence[float], messages: int, bits: int) -> Regions:
    """The uniform law on `messages` cells of equal length, cut at the quantiles."""
    size = messages << bits
    whole = Region(push(None, 0, size, 1.0, 0, 0.0), None, UNIT)
    empty = Region(None, None, UNIT)
    pieces = [empty] * len(quantiles) + [whole]
    return _Cutter(pieces, [0] * len(quantiles), size, bits).settled(quantiles, 0.0)


def updated(
    regions: Regions,
    likelihoods: Sequence[tuple[float, float]],
    quantiles: Sequence[float],
) -> Regions | None:
    """The posterior after an output, cut anew at `quantiles`; None if it has probability zero.

    `likelihoods` has W(y|x) and its log2 for the letter of each piece.
    """
    chance = sum(m * w for m, (w, _) in zip(regions.masses, likelihoods, strict=True))
    if not chance > 0.0:
        return None
    ends = (0, *regions.cuts, regions.size)
    pieces = []
    for place, (piece, (likelihood, log)) in enumerate(zip(regions.pieces, likelihoods)):
        if likelihood > 0.0:
            scale = scaled(piece.scale, likelihood / chance, log)
            pieces.append(Region(piece.front, piece.back, scale))
        elif ends[place] == ends[place + 1]:
            pieces.append(Region(None, None, UNIT))
        else:
            gone = push(None, ends[place], ends[place + 1], 0.0, 0, LOG_ZERO)
            pieces.append(Region(gone, None, UNIT))
    cutter = _Cutter(pieces, list(regions.cuts), regions.size, regions.bits)
    return cutter.settled(quantiles, regions.log_chance + log2(chance))


class _Cutter:
    """Walks the cuts to their quantiles; lives within one update."""

    def __init__(self, pieces: list[Region], cuts: list[int], size: int, bits: int) -> None:
        self.pieces, self.cuts, self.size, self.bits = pieces, cuts, size, bits
        self.masses = [piece.mass for piece in pieces]

    def settled(self, quantiles: Sequence[float], log_chance: float) -> Regions:
        """Every cut at its quantile, from left to right."""
        for cut, quantile in enumerate(quantiles):
            while not self.walk(cut, quantile):
                self.refine()
        if self.bits == 0 and 1.0 - max(self.masses) < DULL:
            self.spread(quantiles)
        return Regions(
            tuple(self.pieces), tuple(self.masses), tuple(self.cuts),
            self.size, self.bits, log_chance,
        )  # fmt: skip

    def walk(self, cut: int, quantile: float) -> bool:
        """Move intervals across a cut until `quantile` is left of it; False: too coarse an axis."""
        slack = SLACK * quantile * (1.0 - quantile)
        while True:
            before, after = sum(self.masses[: cut + 1]), sum(self.masses[cut + 1 :])
            gap = quantile * after - (1.0 - quantile) * before
            if -slack <= gap <= slack:
                return True
            forward = gap > 0.0
            source = self.nonempty(cut + 1) if forward else cut
            top = self.top(source, forward)
            if top is None:
                return True
            available = top_mass(top, self.pieces[source].scale)
            if abs(gap) < available - slack:
                count = top[UPPER] - top[LOWER]
                if self.bits and count < FINE:
                    return False
                taken, share, rest = part(count, abs(gap) / available)
                if taken:
                    if taken < count:
                        self.divide(source, forward, taken, share, rest)
                    self.move(source, cut, forward)
                return True
            self.move(source, cut, forward)

    def top(self, place: int, forward: bool) -> Cell | None:
        """The interval of a region that is nearest to the cut on its left (`forward`) or right."""
        piece = self.pieces[place] = self.pieces[place].end(right=not forward)
        return piece.front if forward else piece.back

    def nonempty(self, start: int) -> int:
        """The first region from `start` on that holds an interval, or the last region."""
        for place in range(start, len(self.pieces)):
            if self.pieces[place].front is not None or self.pieces[place].back is not None:
                return place
        return len(self.pieces) - 1

    def divide(self, source: int, forward: bool, taken: int, share: float, rest: float) -> None:
        """Split the interval nearest to the cut in two."""
        giving, top = self.pieces[source], self.top(source, forward)
        if top is None:
            return
        lower, upper, weight, exponent, density = top[:5]
        middle = lower + taken if forward else upper - taken
        near, far = (lower, middle), (middle, upper)
        if not forward:
            near, far = far, near
        stack = push(top[BELOW], *far, weight * rest, exponent, density)
        stack = push(stack, *near, weight * share, exponent, density)
        changed = {"front" if forward else "back": stack}
        self.pieces[source] = giving._replace(**changed)

    def move(self, source: int, cut: int, forward: bool) -> None:
        """Move the interval nearest to the cut to the region on its other side."""
        target = cut if forward else cut + 1
        top, giving, taking = self.top(source, forward), self.pieces[source], self.pieces[target]
        if top is None:
            return
        onto = taking.back if forward else taking.front
        stack = moved(top, giving.scale, onto, taking.scale)
        if forward:
            self.pieces[source] = giving._replace(front=top[BELOW])
            self.pieces[target] = taking._replace(back=stack)
            # regions between the two are empty: their cuts go along
            self.cuts[cut:source] = [top[UPPER]] * (source - cut)
        else:
            self.pieces[source] = giving._replace(back=top[BELOW])
            self.pieces[target] = taking._replace(front=stack)
            self.cuts[cut] = top[LOWER]
        self.masses[source], self.masses[target] = (
            self.pieces[source].mass,
            self.pieces[target].mass,
        )

    def refine(self) -> None:
        """Double the digits after the point."""
        bits = self.bits
        self.pieces = [
            Region(refined(piece.front, bits), refined(piece.back, bits), piece.scale)
            for piece in self.pieces
        ]
        self.cuts = [cut << bits for cut in self.cuts]
        self.size, self.bits = self.size << bits, 2 * bits

    def spread(self, quantiles: Sequence[float]) -> None:
        """Where one region holds nearly all (see `DULL`), try to move one message out of it.

        Of its first and its last message, that one whose move leaves the region most.
        """
        place = max(range(len(self.masses)), key=self.masses.__getitem__)
        least = sum(self.masses[:place]) + sum(self.masses[place + 1 :])
        best: _Cutter | None = None
        for forward, cut in ((True, place - 1), (False, place)):
            if 0 <= cut < len(quantiles):
                trial = _Cutter(list(self.pieces), list(self.cuts), self.size, self.bits)
                trial.single(place, cut, forward)
                if trial.masses[place] > least:
                    least, best = trial.masses[place], trial
        if best is not None:
            self.pieces, self.cuts, self.masses = best.pieces, best.cuts, best.masses

    def single(self, source: int, cut: int, forward: bool) -> None:
        """Move one possible message and the impossible ones before it."""
        while (top := self.top(source, forward)) is not None and top[WEIGHT] == 0.0:
            self.move(source, cut, forward)
        if top is None:
            return
        count = top[UPPER] - top[LOWER]
        if count > 1:
            self.divide(source, forward, 1, 1 / count, (count - 1) / count)
        self.move(source, cut, forward)


def _stacked(cells: list[Cell]) -> Cell | None:
    """A stack of these cells, the last on top."""
    stack: Cell | None = None
    for cell in cells:
        stack = push(stack, *cell[:5])
    return stack
