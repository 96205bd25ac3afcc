"""Bounds on the lines of APM at a budget over the pool hold for every tile."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apm import APM, PoolMaxPower, Predictions
from apm.selectors.tiled import open_tiles
from apm.selectors.tiles.foresight import Lines
from apm.selectors.tiles.line_sight import LineSight
from apm.selectors.tiles.scanning import scan
from tests.apm.selectors.tiles.test_scanning import CASES, enough_for, told

pytestmark = pytest.mark.usefixtures("small_tiles")


@given(predictions=st.booleans(), charged=st.booleans(), off=st.sampled_from([1.0, 1.05]), **CASES)
@settings(max_examples=40, deadline=None)
def test_bounds_on_lines_hold(
    predictions, charged, off, seed, single, intercept, labels, more, scale, aside
):
    message: Any = {"message": Predictions(num_targets=9)} if predictions else {}
    rule = APM(PoolMaxPower(), charged=charged, **message)
    state = told(seed, single, intercept, labels, more, scale, rule)
    X, belief = state.features, state.belief
    assume(X.kept is not None)  # a budget that leaves its range ends the pass that keeps them
    lines = Lines.of(state.selector, belief, X)
    assert lines is not None
    ready, looks, amounts = lines.ready, [], []
    for start, tile, places in open_tiles(X, state.open):
        look = ready.look(belief, tile, places)
        looks.append((start // X.tile_rows, look))
        amounts.append(look.budget(ready, belief, tile))
    power = max(amounts)
    sight = LineSight(lines, X.kept, power / off, 7)
    ratings = [(number, ready.rated(look, power)) for number, look in looks]
    sight.enough = enough_for(np.concatenate([rating.values for _, rating in ratings]), aside)
    scan(X.kept, [sight], lambda which: open_tiles(X, state.open, which))
    limits = sight.limits(power)
    assert limits is not None
    for (number, rating), amount in zip(ratings, amounts, strict=True):
        assert rating.values.max() <= limits.highest[number]
        assert rating.values.min() >= limits.deepest
        assert amount <= sight.amount[number] * (1 + 1e-12)


def test_a_budget_beyond_the_knots_has_no_bounds():
    state = told(0, False, False, 10, 0, 1.0, APM(PoolMaxPower()))
    lines = Lines.of(state.selector, state.belief, state.features)
    assert lines is not None
    sight = LineSight(lines, state.features.kept, 1.0, 7)
    assert sight.limits(0.5) is None
    assert sight.limits(9.0) is None
    assert sight.limits(1.0) is not None


def test_tiles_without_candidates_and_unknown_ones():
    state = told(0, False, False, 10, 0, 1.0, APM(PoolMaxPower()))
    lines = Lines.of(state.selector, state.belief, state.features)
    assert lines is not None
    sight = LineSight(lines, state.features.kept, 1.0, 7)
    sight.roots, sight.deepest = np.array([1.0, 2.0, 3.0]), -2.0
    sight.at[:], sight.at[2] = -1.0, -np.inf
    for power in (2.0, 4.0, 9.0):  # the last two at a knot
        limits = sight.limits(power)
        assert limits is not None
        assert limits.highest[2] == -np.inf
        assert -1.0 <= limits.highest[0] < -0.9
    sight._unknown(1)
    for power in (2.0, 4.0, 9.0):
        assert sight.limits(power) is None
