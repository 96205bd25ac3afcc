"""Kept forms bound those of another belief, whatever the labels between them."""

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from apm import APM, Learner, PoolMaxPower, Predictions, VariationalLogistic
from apm.selectors.batch import condition
from apm.selectors.tiled import open_tiles
from apm.selectors.tiles.foresight import Lines
from apm.selectors.tiles.kept_forms import Forms, Moved, _Change
from channelcode.errors import NotConverged
from tests.apm.selectors.tiles.test_pruning import Counted

pytestmark = pytest.mark.usefixtures("small_tiles")
RULE = APM(PoolMaxPower(), message=Predictions(num_targets=20))


@given(
    seed=st.integers(0, 10**6),
    single=st.booleans(),
    intercept=st.booleans(),
    more=st.sampled_from([0, 1, 5, 40]),
    most=st.sampled_from([0, 2, 15]),
    scale=st.sampled_from([1.0, 2.0**-30, 64.0]),
    repeats=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_ranges_hold(seed, single, intercept, more, most, scale, repeats):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(1100, 5)) * np.exp(rng.normal(size=5))
    if repeats:
        X[100:] = X[rng.integers(3, size=1000)]
    X = X.astype(np.float32 if single else np.float64)
    y = (X @ rng.normal(size=5) > 0).astype(int)
    posterior = VariationalLogistic(0.1 / scale**2, intercept=intercept)
    learner = Learner(Counted(X), posterior, RULE, seed=0)
    learner.tell(range(6), y[:6])
    learner.ask()
    pool = learner._state.features
    kept = pool.kept
    assume(kept is not None)  # a budget that leaves its range ends the pass that keeps them
    if more:
        try:
            learner.tell(range(10, 10 + more), y[10 : 10 + more])
        except NotConverged:  # labels that a plane parts, at a weak prior
            reject()
    state = learner._state
    lines = Lines.of(state.selector, state.belief, pool)
    assert lines is not None
    moved = Moved(kept, lines.forms, most)
    for start, tile, places in open_tiles(pool, state.open):
        look = lines.ready.look(state.belief, tile, places)
        variance = look.laws.variance
        design = np.concatenate((tile, np.ones((len(tile), 1))), axis=1) if intercept else tile
        image = (design[places] @ moved.columns).T.astype(X.dtype)
        signal = look.share * variance
        length = np.full(len(places), kept.length[start // pool.tile_rows])
        ranges = moved.ranges(start, places, image)
        assert ranges is not None
        for found in (ranges, moved.exact(tile[places], length)):
            for (least, most_), form in zip(found, (variance, signal), strict=True):
                assert (least <= form * (1 + 1e-12)).all()
                assert (form <= most_ * (1 + 1e-12)).all()


@given(
    seed=st.integers(0, 10**6),
    single=st.booleans(),
    intercept=st.booleans(),
    most=st.sampled_from([0, 1, 4]),
    scale=st.sampled_from([1.0, 2.0**-30, 64.0]),
)
@settings(max_examples=30, deadline=None)
def test_ranges_hold_after_further_picks(seed, single, intercept, most, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(1100, 5)) * np.exp(rng.normal(size=5))
    X = X.astype(np.float32 if single else np.float64)
    learner = Learner(
        Counted(X), VariationalLogistic(0.1 / scale**2, intercept=intercept), RULE, seed=0
    )
    learner.tell(range(6), (X[:6] @ rng.normal(size=5) > 0).astype(int))
    learner.ask()
    state, pool = learner._state, learner._state.features
    kept, belief = pool.kept, learner._state.belief
    assume(kept is not None)
    ranges, moved = {}, None
    for row in (None, *rng.integers(1100, size=3)):
        if row is not None:
            belief = condition(belief, X[row])
        lines = Lines.of(state.selector, belief, pool)
        assert lines is not None
        moved = Moved(kept, lines.forms, most, moved)
        for start, tile, places in open_tiles(pool, state.open):
            number = start // pool.tile_rows
            design = np.concatenate((tile, np.ones((len(tile), 1))), axis=1) if intercept else tile
            image = (design[places] @ moved.columns).T.astype(X.dtype)
            if row is None:
                ranges[number] = moved.ranges(start, places, image)
            else:
                ranges[number] = moved.onward(number, ranges[number], image)
            look = lines.ready.look(belief, tile, places)
            variance = look.laws.variance
            forms = variance, look.share * variance
            for (least, largest), form in zip(ranges[number], forms, strict=True):
                assert (least <= form * (1 + 1e-12)).all()
                assert (form <= largest * (1 + 1e-12)).all()
    assert moved is not None
    assert moved.onward(0, None, image) is None


def test_rows_that_come_back_are_not_known():
    X = np.random.default_rng(0).normal(size=(1100, 4))
    learner = Learner(Counted(X), VariationalLogistic(0.1), RULE, seed=0)
    learner.tell(range(6), (X[:6, 0] > 0).astype(int))
    learner.ask()
    kept = learner._state.features.kept
    assert not kept.knows(0, np.array([5, 9]))
    assert kept.knows(0, np.array([6, 9]))


def test_a_byte_for_each_form_of_a_row():
    X = np.random.default_rng(0).normal(size=(1100, 4))
    learner = Learner(Counted(X), VariationalLogistic(0.1), RULE, seed=0)
    learner.tell([0, 1], [0, 1])
    learner.ask()
    kept = learner._state.features.kept
    assert kept.codes.nbytes == 2 * len(X)


def test_forms_beyond_range_are_none():
    X = np.random.default_rng(0).normal(size=(1100, 4)) * 1e100
    learner = Learner(Counted(X), VariationalLogistic(1e-160), RULE, seed=0)
    belief = learner._state.belief.sized(X)
    assert Forms.of(belief.posterior, None) is None


@pytest.mark.parametrize("labels", [1, 3, 6])
def test_the_common_factor_of_two_signals_is_that_of_most_directions(labels):
    rng = np.random.default_rng(labels)
    factor, half = rng.normal(size=(24, 24)), rng.normal(size=(40, 24))
    signal = factor @ (half.T @ half) @ factor.T
    gone = factor @ rng.normal(size=(24, labels))
    then, now = (
        Forms(factor, (np.ones(24),) * 2, (factor @ factor.T, each), ((1.0, 1.0),) * 2)
        for each in (signal, 1.15 * signal - 3.0 * gone @ gone.T)
    )
    assert _Change.of_signal(then, now).factor == pytest.approx(1.15, rel=0.02)


def test_signals_of_nothing_have_the_factor_one():
    forms = Forms(np.eye(3), (np.ones(3),) * 2, (np.eye(3), np.zeros((3, 3))), ((1.0, 1.0),) * 2)
    assert _Change.of_signal(forms, forms).factor == 1.0
