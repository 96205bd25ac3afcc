"""The bound between known points holds for smooth functions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.capacity.search.bends import bend_bound, graded

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40)
@given(seeds)
def test_bends_bound_smooth_functions(seed):
    """Sums of sines slower than the probes: on a hundred times finer grid no point is above."""
    rng = np.random.default_rng(seed)
    rates, sizes, phases = rng.uniform(0.0, 4.0, 5), rng.normal(size=5), rng.uniform(0, 6, 5)
    function = lambda x: np.sin(x[..., None] * rates + phases) @ sizes  # noqa: E731
    widths = rng.uniform(0.01, 0.03, 200)
    grid = np.concatenate([[0.0], np.cumsum(widths)])
    bound = bend_bound(grid, function(grid))
    inside = grid[:-1, None] + widths[:, None] * np.linspace(0.0, 1.0, 101)
    truth = function(inside).max(axis=1)
    assert (bound >= truth - 1e-12).all()
    # twice the curvature and its spread over six differences at most
    assert (bound - truth).max() <= 0.125 * 0.03**2 * 10 * np.abs(sizes).sum() * 16


def test_bends_along_the_last_axis_and_through_infinity():
    grid = np.linspace(0.0, 1.0, 11)
    rows = np.stack([np.sin(grid), np.cos(grid)])
    both = bend_bound(np.stack([grid, grid]), rows)
    np.testing.assert_array_equal(both[1], bend_bound(grid, rows[1]))
    broken = rows[0].copy()
    broken[5] = np.inf
    assert np.isinf(bend_bound(grid, broken)[4:6]).all()


@settings(max_examples=40)
@given(seeds)
def test_graded_points_have_neighbours_alike(seed):
    """Both ends stay, no gap is more than 64 times the next, and a series by ratios is kept."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, 1.0, 40)
    close = places[:20] + 10.0 ** rng.uniform(-16, -3, 20)
    grid = np.unique(np.concatenate([[0.0, 1.0], places, np.clip(close, 0.0, 1.0)]))
    kept = graded(grid)
    assert kept[0] == 0.0
    assert kept[-1] == 1.0
    assert np.isin(kept, grid).all()
    gaps = np.diff(kept)
    assert (gaps[1:] < 64.1 * gaps[:-1]).all()
    assert (gaps[:-1] < 64.1 * gaps[1:]).all()
    series = np.concatenate([[0.0], np.geomspace(1e-13, 1.0, 99)])
    assert (graded(series) == series).all()
