from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode.feedback.intervals.cells import (
    BELOW,
    LOG_ZERO,
    PEAK,
    UNIT,
    mass,
    members,
    moved,
    part,
    push,
    refined,
    scaled,
    top_mass,
)


@given(st.integers(1, 2**40), st.floats(0, 1))
def test_part_is_the_nearest_whole_number(count, fraction):
    digits = int(fraction * 2**53)
    taken, share, rest = part(count, fraction)
    assert taken == -((2**53 - 2 * count * digits) // 2**54) or digits == 0
    assert share == taken / count
    assert share + rest == pytest.approx(1.0)


def test_part_of_a_huge_count():
    taken, share, rest = part(2**4096, 0.3)
    assert abs(taken - ceil(2**4096 * 3 // 10)) < 2**4096 // 2**52
    assert (share, rest) == pytest.approx((0.3, 0.7))


def test_stacks_know_their_mass_and_their_peak():
    stack = push(None, 0, 4, 0.5, 0, 1.0)
    stack = push(stack, 4, 5, 0.25, 0, 3.0)
    stack = push(stack, 5, 9, 0.125, 0, 2.0)
    assert mass(stack, UNIT) == 0.875
    assert top_mass(stack, UNIT) == 0.125
    assert stack[PEAK][:2] == (4, 5)
    assert stack[BELOW][PEAK] is None  # it is the densest itself
    assert [cell[0] for cell in members(stack)] == [5, 4, 0]
    assert mass(None, UNIT) == 0.0


def test_nothing_underflows():
    tiny = push(push(None, 0, 1, 1e-250, -4000, -5.0), 1, 2, 1e-300, 0, -3.0)
    assert mass(tiny, UNIT) == pytest.approx(1e-300)
    lifted = (1.0, 4000, 4000.0)
    below = members(tiny)[1]
    assert top_mass(below, lifted) == pytest.approx(1e-250)
    scale = UNIT
    for _ in range(100):
        scale = scaled(scale, 1e-60, -199.3)
    assert scale[0] > 0
    there = moved(push(None, 0, 1, 0.5, 0, 0.0), UNIT, None, scale)
    assert top_mass(there, scale) == pytest.approx(0.5)


def test_neighbours_without_mass_are_one():
    stack = push(
        push(push(None, 0, 2, 0.0, 0, LOG_ZERO), 2, 5, 0.0, 0, LOG_ZERO), 5, 6, 1.0, 0, 0.0
    )
    assert [cell[:2] for cell in members(stack)] == [(5, 6), (0, 5)]
    assert [cell[:2] for cell in members(refined(stack, 3))] == [(40, 48), (0, 40)]
