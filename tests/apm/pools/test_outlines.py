"""Every row lies in the ball of its cell, and within a step of its length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm import Learner, VariationalLogistic
from apm.pools import StreamedRows
from apm.pools.blocks import Sliced, Yielded
from apm.pools.outlines import CELLS, LEVELS, Outlines, coded, outline


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([1, 15, 16, 17, 100, 256]),
    single=st.booleans(),
    spread=st.sampled_from([0.0, 1e-6, 1e-3, 1.0]),
    scale=st.sampled_from([1.0, 2.0**-60, 2.0**60]),
)
@settings(max_examples=120, deadline=None)
def test_balls_and_lengths(seed, rows, single, spread, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=5) + spread * rng.normal(size=(rows, 5))
    X = (X * scale).astype(np.float32 if single else np.float64)
    found, exact = outline(X, 16), X.astype(np.longdouble)
    cell = np.arange(rows) // 16
    apart = np.sqrt(np.square(exact - found.centre[cell]).sum(axis=1))
    length = np.sqrt(np.square(exact).sum(axis=1))
    assert (apart <= found.radius[cell]).all()
    assert (length <= found.norm[cell]).all()
    assert len(found.norm) == CELLS
    assert (found.norm[cell.max() + 1 :] == 0).all()
    # not much wider than it must be: rounding alone is a part of the length, underflow a number
    wide = 2e-6 if single else 1e-14
    own = np.array([apart[cell == each].max() for each in cell])
    assert (found.radius[cell] <= 1.02 * own + wide * length.max()).all() or scale < 1.0


def test_steps_hold_their_values():
    values = np.random.default_rng(0).normal(size=999)
    codes, low, step = coded(values)
    assert codes.dtype == np.uint8
    assert (low + step * codes <= values + 1e-12).all()
    assert (values <= low + step * (codes + 1.0) + 1e-12).all()
    assert step == pytest.approx((values.max() - values.min()) / LEVELS)
    assert coded(np.ones(3))[2] == 0.0


def test_lengths_beyond_range_have_no_ball():
    tile = np.array([[1e30, 0.0], [1.0, 1.0]], dtype=np.float32)
    assert not np.isfinite(outline(tile, 1).norm[0])
    together = Outlines(CELLS)
    together.add(tile)
    assert np.isinf(together.done().largest[0])


def test_the_radius_is_that_of_memory_without_another_pass(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    X = np.random.default_rng(0).normal(size=(1100, 5)).astype(np.float32)
    passes = []

    class Noted(Sliced):
        def blocks(self):
            passes.append(1)
            return super().blocks()

    rows = StreamedRows(Noted(X))
    learner, memory = (Learner(pool, VariationalLogistic(), seed=0) for pool in (rows, X))
    assert learner._state.belief.radius(rows) == memory._state.belief.radius(X)
    assert len(passes) == 1
    assert StreamedRows(Yielded(lambda: iter([X]))).outlines is None  # cannot be read anywhere
