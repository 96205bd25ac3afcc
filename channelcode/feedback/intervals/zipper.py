"""Two letters: the intervals left and right of the cut in two stacks that meet at it.

An output multiplies the scales of the two stacks; then the cut walks until the left mass is p_0
again. Only the intervals it passes are touched, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ldexp, log2
from typing import Any, NamedTuple, TypeAlias

from channelcode.feedback.intervals.cells import (
    BELOW,
    HUGE,
    LOG_ZERO,
    LOWER,
    TINY,
    UNIT,
    UPPER,
    WEIGHT,
    Cell,
    Scale,
    mass,
    moved,
    part,
    push,
    refined,
    scaled,
)

# A cut stays at an end of an interval while the mass left of it is right to this part of
# p_0 p_1: rounding must not shave slivers off intervals that exact arithmetic leaves whole.
SLACK = 2.0**-47
# A continuous message is cut to this many binary digits of the interval.
FINE = 1 << 62
# Where rounding leaves less than this to all letters but one, a use tells next to nothing, and the
# next cut may be the same for ever: then the cut goes to that side of the message beside it which
# leaves the other letters more.
DULL = 1 / 32

# The likelihoods of an output that says nothing.
SILENT = (1.0, 0.0, 1.0, 0.0)

# The fields of a `Zipper` without the name: one is made for every use.
Parts: TypeAlias = tuple[Any, ...]


class Rule(NamedTuple):
    """What an update needs of the scheme: the input law (p_0, p_1), the rounding that a cut may
    be off by, and for each output W(y|0), log2 W(y|0), W(y|1), log2 W(y|1); `SILENT` comes last.
    """

    first: float
    second: float
    slack: float
    rows: tuple[tuple[float, float, float, float], ...]

    @classmethod
    def of(cls, weights: Sequence[float], pairs: Sequence[Sequence[tuple[float, float]]]) -> Rule:
        """The rule of an input law and of the pairs `(W(y|x), log2 W(y|x))` of every output."""
        first, second = weights
        rows = ((*left, *right) for left, right in pairs)
        return cls(first, second, SLACK * first * second, (*rows, SILENT))


class Zipper(NamedTuple):
    """Two stacks with their scales and masses, and the axis that they cover.

    The axis has `size` whole numbers; a message is `2**bits` of them, and with `bits = 0` cuts are
    rounded to messages. `log_chance` is log2 of the probability of the outputs so far.
    """

    left: Cell | None
    left_scale: Scale
    left_mass: float
    right: Cell | None
    right_scale: Scale
    right_mass: float
    size: int
    bits: int
    log_chance: float

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where the second letter begins."""
        return (0 if self.left is None else self.left[UPPER],)

    @property
    def masses(self) -> tuple[float, ...]:
        """The posterior mass of each letter."""
        return self.left_mass, self.right_mass

    def stacks(self) -> tuple[tuple[Cell | None, Scale, bool], ...]:
        """From left to right: stack, scale, and whether its top is its right end."""
        return (self.left, self.left_scale, True), (self.right, self.right_scale, False)


def begin(rule: Rule, messages: int, bits: int) -> Parts:
    """The uniform law on `messages` cells of equal length, cut for the first use."""
    size = messages << bits
    uncut = None, UNIT, 0.0, push(None, 0, size, 1.0, 0, 0.0), UNIT, 1.0, size, bits, 0.0
    return updated(rule, uncut, -1) or uncut


def updated(rule: Rule, zipper: Parts, output: int) -> Parts | None:
    """The posterior after an output, cut anew where the left mass is p_0.

    None if the output has probability zero.
    """
    left, left_scale, left_mass, right, right_scale, right_mass, size, bits, log_chance = zipper
    low, high, slack, rows = rule
    left_chance, left_log, right_chance, right_log = rows[output]
    chance = left_mass * left_chance + right_mass * right_chance
    if not chance > 0.0:
        return None
    # the masses change by the same factor as the scales: no sum has to be read again
    if left_chance > 0.0:
        factor = left_chance / chance
        left_mass *= factor
        scale, shift, log = left_scale
        if TINY < (scale := scale * factor) < HUGE:
            left_scale = (scale, shift, log + left_log)
        else:
            left_scale = scaled(left_scale, factor, left_log)
    elif left is not None:
        left, left_scale, left_mass = push(None, 0, left[UPPER], 0.0, 0, LOG_ZERO), UNIT, 0.0
    if right_chance > 0.0:
        factor = right_chance / chance
        right_mass *= factor
        scale, shift, log = right_scale
        if TINY < (scale := scale * factor) < HUGE:
            right_scale = (scale, shift, log + right_log)
        else:
            right_scale = scaled(right_scale, factor, right_log)
    elif right is not None:
        right = push(None, right[LOWER], size, 0.0, 0, LOG_ZERO)
        right_scale, right_mass = UNIT, 0.0
    gap = low * right_mass - high * left_mass
    if gap > slack or gap < -slack:
        while True:
            if gap > 0.0:
                right, left, fine = _walk(
                    right, right_scale, left, left_scale, gap, low, high, slack, True, bits
                )
            else:
                left, right, fine = _walk(
                    left, left_scale, right, right_scale, -gap, high, low, slack, False, bits
                )
            if fine:
                break
            left, right = refined(left, bits), refined(right, bits)
            size, bits = size << bits, 2 * bits
        left_mass, right_mass = mass(left, left_scale), mass(right, right_scale)
    if bits == 0:
        if left_mass < DULL:
            giving, taking = _one(right, right_scale, left, left_scale, True)
            if (remains := mass(giving, right_scale)) > left_mass:
                right, right_mass = giving, remains
                left, left_mass = taking, mass(taking, left_scale)
        elif right_mass < DULL:
            giving, taking = _one(left, left_scale, right, right_scale, False)
            if (remains := mass(giving, left_scale)) > right_mass:
                left, left_mass = giving, remains
                right, right_mass = taking, mass(taking, right_scale)
    return (
        left, left_scale, left_mass, right, right_scale, right_mass,
        size, bits, log_chance + log2(chance),
    )  # fmt: skip


def _walk(
    source: Cell | None,
    source_scale: Scale,
    target: Cell | None,
    target_scale: Scale,
    need: float,
    share: float,
    other: float,
    slack: float,
    forward: bool,
    bits: int,
) -> tuple[Cell | None, Cell | None, bool]:
    """Move `need` of mass from the top of one stack to another; False: the axis is too coarse.

    `share` of the whole is to lie in the target, `other` in the source.
    """
    factor, place, log = source_scale
    while source is not None and need > slack:
        lower, upper, weight, exponent, density, _, _, _, below = source
        available = weight * factor
        if exponent + place:
            available = ldexp(available, exponent + place)
        if need < available - slack:
            count = upper - lower
            if bits and count < FINE:
                return source, target, False
            taken, share_taken, share_left = part(count, need / available)
            if taken == 0:
                break
            if taken == count:
                return below, moved(source, source_scale, target, target_scale), True
            # units of the target, for the part that goes there
            weight_taken = weight * share_taken * (factor / target_scale[0])
            if forward:
                target = push(
                    target, lower, lower := lower + taken, weight_taken,
                    exponent + place - target_scale[1], density + (log - target_scale[2]),
                )  # fmt: skip
            else:
                target = push(
                    target, upper := upper - taken, upper + taken, weight_taken,
                    exponent + place - target_scale[1], density + (log - target_scale[2]),
                )  # fmt: skip
            return push(below, lower, upper, weight * share_left, exponent, density), target, True
        target = moved(source, source_scale, target, target_scale)
        source = source[BELOW]
        need = share * mass(source, source_scale) - other * mass(target, target_scale)
    return source, target, True


def _one(
    source: Cell | None,
    source_scale: Scale,
    target: Cell | None,
    target_scale: Scale,
    forward: bool,
) -> tuple[Cell | None, Cell | None]:
    """Move one possible message, and the impossible ones before it (see `DULL`)."""
    while source is not None and source[WEIGHT] == 0.0:
        target = moved(source, source_scale, target, target_scale)
        source = source[BELOW]
    if source is None:
        return source, target
    lower, upper, weight, exponent, density = source[:5]
    count = upper - lower
    if count == 1:
        return source[BELOW], moved(source, source_scale, target, target_scale)
    middle = lower + 1 if forward else upper - 1
    near, far = (
        ((lower, middle), (middle, upper)) if forward else ((middle, upper), (lower, middle))
    )
    single = push(None, *near, weight / count, exponent, density)
    rest = push(source[BELOW], *far, weight * ((count - 1) / count), exponent, density)
    return rest, moved(single, source_scale, target, target_scale)
