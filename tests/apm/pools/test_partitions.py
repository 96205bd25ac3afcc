"""Dask collections are read one partition at a time."""

import numpy as np
import pytest

from apm import APM, Learner, VariationalLogistic
from apm.pools import as_rows

X = np.random.default_rng(0).normal(size=(1500, 3)).astype(np.float32)


@pytest.mark.parametrize("chunks", [(1500, 3), (214, 3), (100, 1)])
def test_arrays(chunks, monkeypatch):
    array = pytest.importorskip("dask.array")
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    pool = array.from_array(X, chunks=chunks)
    rows = as_rows(pool)
    assert rows is not None
    np.testing.assert_array_equal(rows[:], X)
    one, other = (Learner(each, VariationalLogistic(), APM(), seed=0) for each in (X, pool))
    for label in (0, 1, 0):
        asked = one.ask(2).tolist()
        assert other.ask(2).tolist() == asked
        one.tell(asked[0], label)
        other.tell(asked[0], label)


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    kept = pandas.DataFrame(X, columns=["a", "b", "c"])
    rows = as_rows(frame.from_pandas(kept, npartitions=4))
    assert rows is not None
    assert rows.columns == ["a", "b", "c"]
    np.testing.assert_array_equal(rows[:], X)
