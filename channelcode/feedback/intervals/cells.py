"""Intervals in stacks that share their tails; every stack knows its mass and its densest member.

A cell is a plain tuple, because one use makes three or four of them. Its weight counts in units of
the stack that holds it: the mass is `weight * 2**exponent` times the stack's scale, and the log2
density is `density` plus log2 of the scale. So an output multiplies a whole stack at once, and no
mass, however small, underflows: exponents are integers of their own.
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any, TypeAlias

# Lower end, upper end, weight, its exponent, log2 density. Then, over this cell and all below it:
# sum of the weights, its exponent, and the densest cell, None if it is this one. Below.
Cell: TypeAlias = tuple[Any, ...]
LOWER, UPPER, WEIGHT, EXPONENT, DENSITY, TOTAL, TOTAL_EXPONENT, PEAK, BELOW = range(9)

LOG_ZERO = float("-inf")  # the log2 density of an interval without mass
TINY, HUGE = 2.0**-200, 2.0**200  # weights outside have their powers of two moved away


# What the units of a stack are worth, `factor * 2**exponent`, and the log2 of it. Plain too.
Scale: TypeAlias = tuple[float, int, float]
UNIT: Scale = (1.0, 0, 0.0)


def scaled(scale: Scale, factor: float, log: float) -> Scale:
    """The scale multiplied by `factor`, whose log2 is `log`."""
    product = scale[0] * factor
    if TINY < product < HUGE:
        return (product, scale[1], scale[2] + log)
    mantissa, shift = frexp(product)
    return (mantissa, scale[1] + shift, scale[2] + log)


def push(
    below: Cell | None, lower: int, upper: int, weight: float, exponent: int, density: float
) -> Cell:
    """A stack with one more cell on top; neighbours without mass become one."""
    if not TINY < weight < HUGE:
        if weight == 0.0:
            return _push_empty(below, lower, upper)
        weight, shift = frexp(weight)
        exponent += shift
    if below is None:
        return (lower, upper, weight, exponent, density, weight, exponent, None, None)
    total, place = below[5], below[6]
    if place == exponent:
        total += weight
    elif place > exponent:
        total += ldexp(weight, exponent - place)
    else:
        total, place = weight + ldexp(total, place - exponent), exponent
    peak = below[7] or below
    if peak[4] > density:
        return (lower, upper, weight, exponent, density, total, place, peak, below)
    return (lower, upper, weight, exponent, density, total, place, None, below)


def _push_empty(below: Cell | None, lower: int, upper: int) -> Cell:
    if below is None:
        return (lower, upper, 0.0, 0, LOG_ZERO, 0.0, 0, None, None)
    if below[WEIGHT] == 0.0:
        lower, upper = min(lower, below[LOWER]), max(upper, below[UPPER])
        return _push_empty(below[BELOW], lower, upper)
    peak = below[PEAK] or below
    return (lower, upper, 0.0, 0, LOG_ZERO, below[TOTAL], below[TOTAL_EXPONENT], peak, below)


def mass(stack: Cell | None, scale: Scale) -> float:
    """The mass of a whole stack."""
    if stack is None:
        return 0.0
    shift = stack[6] + scale[1]
    return ldexp(stack[5] * scale[0], shift) if shift else stack[5] * scale[0]


def top_mass(stack: Cell, scale: Scale) -> float:
    """The mass of the cell on top."""
    shift = stack[3] + scale[1]
    return ldexp(stack[2] * scale[0], shift) if shift else stack[2] * scale[0]


def moved(top: Cell, source: Scale, onto: Cell | None, target: Scale) -> Cell:
    """`onto` with the cell `top` of another stack on top of it."""
    return push(
        onto,
        top[0],
        top[1],
        top[2] * (source[0] / target[0]),
        top[3] + source[1] - target[1],
        top[4] + (source[2] - target[2]),
    )


def members(stack: Cell | None) -> list[Cell]:
    """The cells of a stack from the top down."""
    found = []
    while stack is not None:
        found.append(stack)
        stack = stack[BELOW]
    return found


def refined(stack: Cell | None, shift: int) -> Cell | None:
    """The stack with every end shifted left by `shift` bits: a finer axis."""
    built: Cell | None = None
    for cell in reversed(members(stack)):
        built = push(built, cell[0] << shift, cell[1] << shift, cell[2], cell[3], cell[4])
    return built


def part(count: int, fraction: float) -> tuple[int, float, float]:
    """The whole number nearest to `count * fraction` (ties go down), and the shares of both parts.

    >>> part(3, 0.5), part(2**200, 0.25)[0] == 2**198
    ((1, 0.333333, 0.666667), True)
    """
    digits = int(fraction * 9007199254740992.0)
    taken = (count * digits + 4503599627370495) >> 53
    if count >> 120:  # the shares are those of the digits, to 1e-20
        return taken, digits / 9007199254740992.0, (9007199254740992 - digits) / 9007199254740992.0
    return taken, taken / count, (count - taken) / count
