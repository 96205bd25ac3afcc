"""The two engines against each other, and the zipper's promise: it touches what the cut passes."""

from __future__ import annotations

from math import log2

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.feedback.intervals import cells, regions, zipper


def rule_of(matrix: np.ndarray, weights: np.ndarray) -> zipper.Rule:
    rows = tuple(
        tuple((float(w), log2(w) if w > 0 else cells.LOG_ZERO) for w in column)
        for column in matrix.T
    )
    return zipper.Rule.of(weights.tolist(), rows)


def begun(rule: zipper.Rule, messages: int, bits: int) -> zipper.Zipper:
    return zipper.Zipper._make(zipper.begin(rule, messages, bits))


def after(rule: zipper.Rule, state: zipper.Zipper, output: int) -> zipper.Zipper:
    parts = zipper.updated(rule, state, output)
    assert parts is not None
    return zipper.Zipper._make(parts)


@given(st.integers(0, 2**32), st.integers(1, 80))
@settings(max_examples=40)
def test_zipper_and_regions_agree(seed, bits):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(3), size=2) * (rng.random((2, 3)) < 0.85)
    matrix[:, 0] += 0.05
    matrix /= matrix.sum(axis=1, keepdims=True)
    first = rng.uniform(0.02, 0.98)
    rule = rule_of(matrix, np.array([first, 1 - first]))
    messages = int(rng.integers(2**63)) % 2**bits + 2
    one, other = begun(rule, messages, 0), regions.begin((first,), messages, 0)
    for _ in range(30):
        # masses that differ in the last digit place a cut apart by that part of the axis
        assert abs(one.cuts[0] - other.cuts[0]) <= messages >> 45
        np.testing.assert_allclose(one.masses, other.masses, rtol=1e-9, atol=1e-13)
        output = int(rng.choice(np.flatnonzero(np.array(one.masses) @ matrix > 1e-6)))
        low, low_log, high, high_log = rule.rows[output]
        also = regions.updated(other, [(low, low_log), (high, high_log)], (first,))
        assert also is not None
        one, other = after(rule, one, output), also


def test_stacks_share_their_tails():
    """An update makes a handful of new cells and keeps the rest, however many there are."""
    rule = rule_of(np.array([[0.89, 0.11], [0.11, 0.89]]), np.array([0.5, 0.5]))
    rng = np.random.default_rng(0)
    state = begun(rule, 2**2000, 0)
    made = []
    for _ in range(1500):
        held = {id(c) for stack, _, _ in state.stacks() for c in cells.members(stack)}
        following = after(rule, state, int(rng.integers(2)))
        new = [c for stack, _, _ in following.stacks() for c in cells.members(stack)]
        made.append(sum(id(c) not in held for c in new))
        state = following
    assert sum(len(cells.members(stack)) for stack, _, _ in state.stacks()) > 1000
    assert np.mean(made) < 4  # two parts of one interval, and the 1.3 that the cut passes


def test_rounding_does_not_add_up():
    """Sums are of positive numbers and a pop brings the old sum back: no drift in 4,000 uses."""
    rule = rule_of(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([0.5, 0.5]))
    rng = np.random.default_rng(1)
    state = begun(rule, 1, 256)
    for _ in range(4000):
        state = after(rule, state, int(rng.integers(2)))
    masses = [
        cells.top_mass(c, scale) for stack, scale, _ in state.stacks() for c in cells.members(stack)
    ]
    assert abs(sum(masses) - 1) < 1e-12
    assert abs(state.left_mass - 0.5) < 1e-13
    assert state.bits > 256  # the axis has been refined
