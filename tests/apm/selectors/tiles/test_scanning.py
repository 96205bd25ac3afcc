"""A pass by few products gives bounds that hold for every tile."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apm import APM, InformationGain, Learner, MaxVariance, VariationalLogistic
from apm.power import FixedPower
from apm.selectors.tiled import open_tiles
from apm.selectors.tiles.kept_forms import Forms, KeptForms
from apm.selectors.tiles.pruning import Pruning
from apm.selectors.tiles.scanning import PlainSight, _images, scan
from tests.apm.selectors.tiles.test_pruning import Counted

pytestmark = pytest.mark.usefixtures("small_tiles")
CASES = {
    "seed": st.integers(0, 10**6),
    "single": st.booleans(),
    "intercept": st.booleans(),
    "labels": st.sampled_from([2, 10, 60]),
    "more": st.sampled_from([0, 1, 4]),
    "scale": st.sampled_from([1.0, 2.0**-40, 16.0]),
    "aside": st.sampled_from([0.0, 0.3, 1.0]),
}


def told(seed, single, intercept, labels, more, scale, rule, lengths=False):
    """A learner that was asked once, and told `more` labels since; by lengths, or a whole pass."""
    rng = np.random.default_rng(seed)
    X = (scale * rng.normal(size=(1100, 5))).astype(np.float32 if single else np.float64)
    y = (X[:, 0] > 0).astype(int)
    learner = Learner(Counted(X), VariationalLogistic(0.1, intercept=intercept), rule, seed=0)
    learner.tell(range(labels), y[:labels])
    known = learner.pool.outlines
    learner.pool.outlines = None
    learner.ask()
    learner.pool.outlines = known if lengths else None
    if more:
        learner.tell(range(labels, labels + more), y[labels : labels + more])
    return learner._state


def enough_for(best, aside):
    """What a part of the rows reaches, so that they are set aside."""
    return np.inf if aside == 0.0 else float(np.quantile(best, 1.0 - aside))


@given(
    rule=st.sampled_from(
        [APM(), APM(FixedPower(5.0), charged=False), MaxVariance(), InformationGain()]
    ),
    lengths=st.booleans(),
    most=st.sampled_from([0, 3, 15]),
    **CASES,
)
@settings(max_examples=60, deadline=None)
def test_plain_bounds_hold(
    rule, lengths, most, seed, single, intercept, labels, more, scale, aside
):
    state = told(seed, single, intercept, labels, more, scale, rule, lengths)
    X, belief = state.features, state.belief
    pruning = Pruning.of(state.selector, belief, X)
    assert pruning is not None
    forms = Forms.of(pruning.posterior, None)
    assert forms is not None
    kept = KeptForms.of_lengths(X, forms) if lengths else X.kept
    assert kept is not None
    sight = PlainSight(pruning.reach, kept, pruning.posterior, forms, most)
    every = [
        (start // X.tile_rows, state.selector._rate(belief, tile, places, 0))
        for start, tile, places in open_tiles(X, state.open)
    ]
    sight.enough = enough_for(np.concatenate([rating.values for _, rating in every]), aside)
    scan(kept, [sight], lambda which: open_tiles(X, state.open, which))
    assume(not sight.lost)
    limits = sight.limits
    assert limits.later is not None
    for number, rating in every:
        assert rating.values.max() <= limits.highest[number] <= limits.later[number]
        assert rating.values.min() >= limits.deepest
        assert rating.laws.second_moment.max() <= limits.power[number]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("rows", "width", "columns"), [(1, 1, 1), (700, 300, 16), (5000, 9, 8), (40, 3, 0)]
)
def test_images_by_pieces_are_those_of_the_whole(rows, width, columns, dtype):
    rng = np.random.default_rng(rows)
    tile, some = rng.normal(size=(rows, width)), rng.normal(size=(columns, width))
    found = _images(tile.astype(dtype), some.astype(dtype))
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, some @ tile.T, rtol=1e-3, atol=1e-3)  # of single precision
