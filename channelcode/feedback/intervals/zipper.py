"""Two letters: the intervals left and right of the cut in two stacks that meet at it.

An output multiplies the scales of the two stacks; then the cut walks until the left mass is p_0
again. Only the intervals it passes are touched, however many there are.
"""

from __future__ import annotations

from math import ldexp, log2
from typing import NamedTuple

from channelcode.feedback.intervals.cells import (
    BELOW,
    LOWER,
    NOTHING,
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

_make = tuple.__new__


class Rule(NamedTuple):
    """What an update needs of the scheme: the input law, and for each output the pairs
    `(W(y|x), log2 W(y|x))` of the letters.
    """

    weights: tuple[float, ...]
    rows: tuple[tuple[tuple[float, float], ...], ...]


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


def begin(rule: Rule, messages: int, bits: int) -> Zipper:
    """The uniform law on `messages` cells of equal length, cut for the first use."""
    size = messages << bits
    whole = push(None, 0, size, 1.0, 0, 0.0)
    return _settled(rule, None, UNIT, 0.0, whole, UNIT, 1.0, size, bits, 0.0)


def updated(rule: Rule, zipper: Zipper, output: int) -> Zipper | None:
    """The posterior after an output, cut anew; None if the output has probability zero."""
    left, left_scale, left_mass, right, right_scale, right_mass, size, bits, log_chance = zipper
    (low, low_log), (high, high_log) = rule.rows[output]
    chance = left_mass * low + right_mass * high
    if not chance > 0.0:
        return None
    # the masses change by the same factor as the scales: no sum has to be read again
    if low > 0.0:
        left_scale = scaled(left_scale, low / chance, low_log)
        left_mass *= low / chance
    elif left is not None:
        left, left_scale, left_mass = push(None, 0, left[UPPER], 0.0, 0, NOTHING), UNIT, 0.0
    if high > 0.0:
        right_scale = scaled(right_scale, high / chance, high_log)
        right_mass *= high / chance
    elif right is not None:
        right = push(None, right[LOWER], size, 0.0, 0, NOTHING)
        right_scale, right_mass = UNIT, 0.0
    return _settled(
        rule, left, left_scale, left_mass, right, right_scale, right_mass,
        size, bits, log_chance + log2(chance),
    )  # fmt: skip


def _settled(
    rule: Rule,
    left: Cell | None,
    left_scale: Scale,
    left_mass: float,
    right: Cell | None,
    right_scale: Scale,
    right_mass: float,
    size: int,
    bits: int,
    log_chance: float,
) -> Zipper:
    """The zipper with its cut where the left mass is p_0."""
    low, high = rule.weights
    gap = low * right_mass - high * left_mass
    slack = SLACK * low * high
    if gap > slack or gap < -slack:
        while True:
            if gap > 0.0:
                right, left, fine = _walk(
                    right, right_scale, left, left_scale, gap, low, high, True, bits
                )
            else:
                left, right, fine = _walk(
                    left, left_scale, right, right_scale, -gap, high, low, False, bits
                )
            if fine:
                break
            left, right = refined(left, bits), refined(right, bits)
            size, bits = size << bits, 2 * bits
        left_mass = right_mass = 0.0
        if left is not None:
            shift = left[6] + left_scale[1]
            left_mass = left[5] * left_scale[0]
            left_mass = ldexp(left_mass, shift) if shift else left_mass
        if right is not None:
            shift = right[6] + right_scale[1]
            right_mass = right[5] * right_scale[0]
            right_mass = ldexp(right_mass, shift) if shift else right_mass
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
    return _make(
        Zipper,
        (left, left_scale, left_mass, right, right_scale, right_mass, size, bits, log_chance),
    )


def _walk(
    source: Cell | None,
    source_scale: Scale,
    target: Cell | None,
    target_scale: Scale,
    need: float,
    share: float,
    other: float,
    forward: bool,
    bits: int,
) -> tuple[Cell | None, Cell | None, bool]:
    """Move `need` of mass from the top of one stack to another; False: the axis is too coarse.

    `share` of the whole is to lie in the target, `other` in the source.
    """
    slack = SLACK * share * other
    while source is not None and need > slack:
        shift = source[3] + source_scale[1]
        available = source[2] * source_scale[0]
        if shift:
            available = ldexp(available, shift)
        if need < available - slack:
            lower, upper, weight = source[0], source[1], source[2]
            count = upper - lower
            if bits and count < FINE:
                return source, target, False
            taken, share_taken, share_left = part(count, need / available)
            if taken == 0:
                break
            if taken < count:
                # units of the target, for the part that goes there
                units = weight * share_taken * (source_scale[0] / target_scale[0])
                place = source[3] + source_scale[1] - target_scale[1]
                dense = source[4] + (source_scale[2] - target_scale[2])
                below, rest = source[10], weight * share_left
                if forward:
                    lower += taken
                    first = push(target, source[0], lower, units, place, dense)
                else:
                    upper -= taken
                    first = push(target, upper, source[1], units, place, dense)
                return push(below, lower, upper, rest, source[3], source[4]), first, True
            return source[BELOW], moved(source, source_scale, target, target_scale), True
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
