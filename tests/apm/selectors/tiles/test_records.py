"""Balls and ranges of tiles hold the inputs of their rows under any other belief."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.pools import StreamedRows
from apm.pools.blocks import Sliced
from apm.selectors.tiles.records import CELLS, MOST_BELIEFS, Known, TileRecords


def inputs(X, known):
    design = np.concatenate((X, np.ones((len(X), 1))), axis=1) if intercept(X, known) else X
    deviation = np.zeros(len(X))
    if known.factor is not None:
        deviation = np.linalg.norm(design @ known.factor, axis=1)
    return design @ known.theta, deviation


def intercept(X, known):
    return len(known.theta) > X.shape[1]


@given(
    seed=st.integers(0, 10**6),
    columns=st.integers(1, 5),
    constant=st.booleans(),
    spread=st.sampled_from([0.0, 1e-3, 1.0]),
    step=st.sampled_from([0.0, 1e-3, 1.0]),
    scale=st.sampled_from([1.0, 2.0**-300, 2.0**100]),
    signed=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_inputs_lie_in_the_ranges(seed, columns, constant, spread, step, scale, signed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(6, columns)), 100, axis=0)
    X = (X + spread * rng.normal(size=X.shape)) * scale
    rows = StreamedRows(Sliced(X))
    rows.tile_rows, rows.outlines = 256, None
    q = columns + constant
    theta, factor = rng.normal(size=q), rng.normal(size=(q, q))
    first = Known(theta, factor if signed else None, signed)
    then = factor + step * rng.normal(size=(q, q))
    now = Known(theta + step * rng.normal(size=q), then if signed else None, signed)
    records = TileRecords(rows)
    assert not records.complete
    is_open = rng.random(len(X)) < 0.9
    for number, start in enumerate(range(0, len(X), 256)):
        tile = X[start : start + 256]
        places = np.flatnonzero(is_open[start : start + 256])
        found = [each[places] for each in inputs(tile, first)]
        found[0] = found[0] if signed else np.abs(found[0])
        records.read(number, start, tile, places, found, first)
    assert records.complete
    for which in (first, now):
        for candidates in (is_open, np.ones(len(X), dtype=bool)):
            ranges = records.ranges(which, candidates)
            mean, deviation = inputs(X, which)
            cell = np.arange(len(X)) // (256 // CELLS)
            some = np.flatnonzero(candidates)
            near, far, narrow, wide = (each[cell[some]] for each in ranges)
            assert (np.abs(mean[some]) >= near).all()
            assert (np.abs(mean[some]) <= far).all()
            if signed:
                assert (deviation[some] >= narrow).all()
                assert (deviation[some] <= wide).all()


def test_old_beliefs_are_forgotten():
    X = np.random.default_rng(0).normal(size=(40, 2))
    rows = StreamedRows(Sliced(X))
    records = TileRecords(rows)
    for _ in range(MOST_BELIEFS + 5):
        known = Known(np.ones(2), np.eye(2))
        records.read(0, 0, X, np.arange(40), inputs(X, known), known)
    assert len(records.beliefs) <= MOST_BELIEFS
    assert records.at[0] is records.beliefs[-1]


def test_rows_whose_length_is_beyond_the_range_have_no_ball():
    X = np.full((40, 8), 1e19, dtype=np.float32)
    rows = StreamedRows(Sliced(X))
    records = TileRecords(rows)
    known = Known(np.zeros(8), np.eye(8))
    records.read(0, 0, X, np.arange(40), (np.zeros(40), np.ones(40)), known)
    assert not records.complete
