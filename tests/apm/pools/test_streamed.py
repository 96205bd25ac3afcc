"""Streamed rows: the rows of the matrix, and every change of them is noticed."""

import os

import numpy as np
import pytest

from apm.pools import Yielded, as_rows
from apm.pools.blocks import Sliced
from apm.pools.streamed import EncodedRows, StreamedRows, over_tiles
from apm.storage import fingerprint
from channelcode.errors import InvalidArgument

X = np.random.default_rng(1).normal(size=(1500, 4))


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)


def streamed(rows=X, chunks=7):
    return StreamedRows(Yielded(lambda: iter(np.array_split(rows, chunks))))


@pytest.mark.parametrize("chunks", [1, 7, 1000])
def test_slices_and_lists_are_those_of_the_matrix(chunks):
    rows = streamed(chunks=chunks)
    assert rows.shape == X.shape
    assert rows.tile_rows == 256
    assert rows.num_tiles == 6
    assert (len(rows), rows.size, rows.nbytes) == (len(X), X.size, X.nbytes)
    for key in (slice(0, 3), slice(250, 800), slice(None), slice(5, 5), slice(3, 900, 7),
                [1, 1499, 256, 1], np.array([7, 255]), -1, 3, []):  # fmt: skip
        np.testing.assert_array_equal(rows[key], X[key])
    for wrong in ([1500], [-1501], [[1]], 1.5):
        with pytest.raises(IndexError):
            rows[wrong]


@pytest.mark.parametrize("chunks", [1, 7])
def test_the_fingerprint_is_that_of_the_matrix(chunks):
    assert streamed(chunks=chunks).fingerprint == fingerprint(X)
    assert streamed(X.astype("f4")).fingerprint == fingerprint(X.astype("f4"))


@pytest.mark.parametrize("width", [1, 4, 300])
def test_encoded_rows(width):
    # a wider or narrower image has tiles of another height
    encode = lambda rows: np.repeat(rows[:, :1], width, axis=1) + 1.0  # noqa: E731
    rows = EncodedRows(streamed(), encode)
    np.testing.assert_array_equal(rows[:], encode(X))
    np.testing.assert_array_equal(rows[[1400, 3]], encode(X)[[1400, 3]])
    assert rows.fingerprint == fingerprint(encode(X))
    np.testing.assert_array_equal(
        over_tiles(rows, lambda tile: tile.sum(axis=1)), encode(X).sum(axis=1)
    )


def test_an_encoder_that_fails_on_a_row_says_which():
    rows = EncodedRows(streamed(), lambda tile: np.where(tile == X[1111, 2], np.nan, tile))
    with pytest.raises(InvalidArgument, match="row 1111, column 2"):
        list(rows.tiles())


def test_bad_blocks_are_refused_by_number():
    blocks = np.array_split(X, 10)
    for bad, said in (
        (np.zeros((3, 5)), "4 columns in block 6, from row 900 on"),
        (np.zeros((3, 4), dtype="f4"), "type float64 in block 6"),
        (np.zeros(4), "two axes"),
        (np.array([["a"] * 4]), "real numbers in block 6"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            as_rows(lambda bad=bad: iter([*blocks[:6], bad]))


def test_nan_far_on_names_its_row():
    def blocks():
        for number in range(8000):
            block = np.ones((3, 2))
            if number == 7312:
                block[1, 1] = np.nan
            yield block

    with pytest.raises(InvalidArgument, match="nan in row 21937, column 1"):
        as_rows(blocks)


def test_pools_without_rows_and_pools_that_are_none():
    with pytest.raises(InvalidArgument, match="at least one row"):
        as_rows(lambda: iter([]))
    with pytest.raises(InvalidArgument, match="anew at each call"):
        as_rows(iter([X]))
    for kept in (X, X.tolist(), 3):
        assert as_rows(kept) is None


def test_any_change_is_noticed(tmp_path):
    path = tmp_path / "pool.npy"
    for change in ("one entry", "two rows", "touched", "gone", "longer"):
        np.save(path, X)
        rows = as_rows(path)
        assert rows is not None
        other = X.copy()
        if change == "one entry":
            other[700, 2] = np.nextafter(other[700, 2], 9)
        elif change == "two rows":
            other[[10, 1200]] = other[[1200, 10]]
        elif change == "longer":
            other = np.concatenate((X, X[:1]))
        if change == "gone":
            os.remove(path)
            with pytest.raises(InvalidArgument, match="No such file"):
                rows[3]
            continue
        np.save(path, other)
        os.utime(path, ns=(1, 1))
        if change == "touched":
            np.testing.assert_array_equal(rows[:], X)
        elif change == "longer":  # with the rows that were there
            with pytest.raises(InvalidArgument, match="has grown from"):
                rows[0:1]
        else:
            with pytest.raises(InvalidArgument, match="are others than at first"):
                rows[0:1]


def test_a_function_that_yields_something_else_later():
    state = [X]
    rows = as_rows(lambda: iter(np.array_split(state[0], 3)))
    assert rows is not None
    for other, said in (
        (X[:1400], "fewer rows|others"),
        (np.concatenate((X, X)), "more rows|others"),
        (X + 1e-9, "others than at first"),
    ):
        state[0] = other
        with pytest.raises(InvalidArgument, match=said):
            list(rows.tiles())


def test_masked_entries_are_refused():
    rows = np.ma.masked_greater(np.random.default_rng(0).normal(size=(40, 2)), 1.0)
    for source in (Yielded(lambda: iter([rows[:30], rows[30:]])), Sliced(rows)):
        with pytest.raises(InvalidArgument, match="no masked entries in block 0"):
            StreamedRows(source)
    whole = np.ma.array(rows.data, mask=False)
    np.testing.assert_array_equal(StreamedRows(Sliced(whole))[:], rows.data)


def test_masked_partitions_are_refused():
    dask = pytest.importorskip("dask.array")
    rows = dask.from_array(np.random.default_rng(0).normal(size=(40, 2)), chunks=(10, 2))
    with pytest.raises(InvalidArgument, match="masked"):
        as_rows(dask.ma.masked_greater(rows, 1.0))
