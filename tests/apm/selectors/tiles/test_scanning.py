"""A pass by means and lengths gives bounds that hold, and leaves most rows alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import APM, Learner, VariationalLogistic
from apm.power import FixedPower
from apm.selectors.tiled import open_tiles
from apm.selectors.tiles import scanning
from apm.selectors.tiles.pruning import Pruning
from tests.apm.selectors.tiles.test_pruning import Counted


@pytest.fixture(scope="module", autouse=True)
def small_tiles():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apm.pools.streamed.TILE_BYTES", 1 << 12)
        yield


@given(
    seed=st.integers(0, 10**6),
    power=st.sampled_from([None, 0.1, 5.0, 1e3]),
    charged=st.booleans(),
    single=st.booleans(),
    intercept=st.booleans(),
    labels=st.sampled_from([2, 10, 60]),
    scale=st.sampled_from([1.0, 2.0**-40, 16.0]),
)
@settings(max_examples=40, deadline=None)
def test_the_bounds_hold(seed, power, charged, single, intercept, labels, scale):
    rng = np.random.default_rng(seed)
    X = (scale * rng.normal(size=(1100, 5))).astype(np.float32 if single else np.float64)
    rule = APM(charged=charged) if power is None else APM(FixedPower(power), charged=charged)
    learner = Learner(Counted(X), VariationalLogistic(0.1, intercept=intercept), rule, seed=0)
    learner.tell(range(labels), (X[:labels, 0] > 0).astype(int))
    learner.ask()  # balls and lengths
    state = learner._state
    pruning = Pruning.of(state.selector, state.belief, state.features)
    assert pruning is not None

    def tiles(which):
        return open_tiles(state.features, state.open, which)

    count = state.features.num_tiles
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "MOST", 1.0)
        found = scanning.scanned(pruning.reach, pruning.posterior, pruning.records, tiles, count)
    assert found is not None
    highest, deepest, powers = found
    best = []
    for start, tile, places in tiles(None):
        rating = state.selector._rate(state.belief, tile, places, 0)
        number = start // state.features.tile_rows
        best.append((float(rating.values.max()), number))
        assert rating.values.min() >= deepest
        assert rating.laws.second_moment.max() <= powers[number]  # type: ignore[union-attr]
    best.sort(reverse=True)
    for value, number in best[:1]:  # a tile that cannot lead may be below its scores
        assert highest[number] >= value


def test_a_pass_that_leaves_too_many_is_given_up(monkeypatch):
    monkeypatch.setattr(scanning, "MOST", 0.0)
    X = np.random.default_rng(0).normal(size=(256 * 12, 4))
    one, other = (
        Learner(pool, VariationalLogistic(0.1), APM(), seed=0) for pool in (X, Counted(X))
    )
    for _ in range(4):
        rows = [int(learner.ask()) for learner in (one, other)]
        assert rows[0] == rows[1]
        for learner in (one, other):
            learner.tell(rows[0], int(X[rows[0], 0] > 0))
