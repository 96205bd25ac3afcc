"""Pools on a cluster: functions go to the rows, and give what they give here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm import APM, Belief, Learner, VariationalLogistic
from apm.encoders import Standardised
from apm.pools import as_rows
from apm.pools.placed import PlacedRows, folded, values_of
from apm.pools.streamed import EncodedRows
from channelcode.errors import InvalidArgument
from tests.apm.clusters import local_client

array = pytest.importorskip("dask.array")

X = np.random.default_rng(0).normal(size=(1500, 3)).astype(np.float32)
HEIGHTS = [1500, 256, 214, 7, (0, 900, 0, 600, 0), (1, 255, 1244)]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)


def placed(rows: Any = X, height: Any = 214) -> Any:
    return as_rows(array.from_array(rows, chunks=(height, 2)))


def total(answers: Any) -> int:
    return sum(answers.values())


def seen(start, tile, places):
    return [(start, tile.copy(), places.copy(), tile.flags.c_contiguous)]


def chained(parts):
    return [value for part in parts for value in part]


@pytest.mark.parametrize("height", HEIGHTS, ids=str)
def test_tiles_are_those_of_a_stream(height):
    rows = placed(height=height)
    stream: Any = as_rows(lambda: iter([X]))
    assert isinstance(rows, PlacedRows)
    assert (rows.shape, rows.dtype, rows.tile_rows) == (stream.shape, stream.dtype, 256)
    for (start, tile, places, whole), (first, expected) in zip(
        folded(rows, seen, chained), stream.tiles(), strict=True
    ):
        assert start == first
        assert whole
        np.testing.assert_array_equal(tile, expected)
        np.testing.assert_array_equal(places, np.arange(len(tile)))
    np.testing.assert_array_equal(rows[:], X)
    np.testing.assert_array_equal(rows[[1499, 3, -2, 3]], X[[1499, 3, -2, 3]])
    np.testing.assert_array_equal(rows[700], X[700])
    assert rows.fingerprint == stream.fingerprint


def test_few_candidates_and_few_tiles():
    rows = placed()
    for closed in ([], [5, 700], np.arange(1400), np.arange(0, 1500, 3), np.arange(250, 520)):
        is_open = np.ones(1500, dtype=bool)
        is_open[np.asarray(closed, dtype=int)] = False
        found = folded(rows, seen, chained, is_open=is_open)
        open_rows = np.concatenate([start + places for start, _, places, _ in found])
        np.testing.assert_array_equal(open_rows, np.flatnonzero(is_open))
    assert [part[0] for part in folded(rows, seen, chained, which=[4, 1])] == [256, 1024]
    assert folded(rows, seen, chained, is_open=np.zeros(1500, dtype=bool)) is None
    assert values_of(rows, lambda start, tile, places: start) == [0, 256, 512, 768, 1024, 1280]


def test_encoded_rows_have_tiles_of_their_own():
    for encode in (lambda rows: rows[:, :1] * 2, lambda rows: np.tile(rows, 9)):
        held = EncodedRows(placed(), encode)
        assert held.placed
        assert held.tile_rows != 256 or held.shape[1] == 27
        found = folded(held, seen, chained)
        np.testing.assert_array_equal(np.concatenate([part[1] for part in found]), encode(X))
        np.testing.assert_array_equal(held[[900, 2]], encode(X)[[900, 2]])


@pytest.mark.parametrize("kind", [np.int32, np.bool_, np.float16, np.float64])
def test_other_types(kind):
    own = (X * 3).astype(kind)
    rows = placed(own)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows[:], own.astype(np.float64))


def test_fortran_order_and_frames():
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    np.testing.assert_array_equal(placed(np.asfortranarray(X))[:], X)
    rows: Any = as_rows(
        frame.from_pandas(pandas.DataFrame(X, columns=["a", "b", "c"]), npartitions=4)
    )
    assert rows.columns == ["a", "b", "c"]
    np.testing.assert_array_equal(rows[:], X)


def test_bad_input_is_named():
    wrong = X.copy()
    wrong[1234, 1] = np.nan
    wrong[1400, 0] = np.inf
    with pytest.raises(InvalidArgument, match=r"nan in row 1234, column 1"):
        placed(wrong)
    other = array.map_blocks(
        lambda block: block.astype(np.float64), placed_array(), dtype=np.float32
    )
    with pytest.raises(InvalidArgument, match=r"must be of type float32 in block \d, as declared"):
        as_rows(other)
    wider = array.map_blocks(lambda block: np.tile(block, 2), placed_array(), dtype=np.float32)
    with pytest.raises(InvalidArgument, match=r"must have 3 columns in block \d"):
        as_rows(wider)
    shorter = array.map_blocks(lambda block: block[1:], placed_array(), dtype=np.float32)
    with pytest.raises(InvalidArgument, match=r"must have \d+ rows in block \d"):
        as_rows(shorter)
    with pytest.raises(InvalidArgument, match="real numbers"):
        as_rows(array.from_array(X.astype(complex), chunks=(200, 3)))
    with pytest.raises(InvalidArgument, match="at least one row"):
        as_rows(array.from_array(X[:0], chunks=(200, 3)))
    with pytest.raises(InvalidArgument, match="two axes"):
        as_rows(array.from_array(X[:, 0], chunks=200))


def placed_array():
    return array.from_array(X, chunks=(214, 3))


def test_rows_that_change_are_refused_and_labels_kept():
    own = X.copy()
    rows = array.map_blocks(lambda block: block * own[0, 0], placed_array(), dtype=np.float32)
    learner = Learner(rows, VariationalLogistic(), APM(), seed=0)
    learner.tell(learner.ask(), 1)
    before = own[0, 0]
    own[0, 0] += 1.0
    with pytest.raises(InvalidArgument, match=r"must not change while it is used, but rows \d+ to"):
        learner.ask()
    own[0, 0] = before
    learner.tell(learner.ask(), 0)
    assert len(learner.history) == 2


@pytest.mark.slow
def test_on_a_cluster_rows_stay_where_they_are(tmp_path):
    """Two processes ask what memory asks, and what travels for a question is a small part."""
    from distributed import Client

    big = np.random.default_rng(1).normal(size=(20_000, 16)).astype(np.float32)
    path = tmp_path / "pool.npy"
    np.save(path, big)

    def read(block_info: Any = None) -> Any:
        (first, last), _ = block_info[None]["array-location"]
        return np.load(path, mmap_mode="r")[first:last] * np.float32(1)

    def received(dask_worker):
        return dask_worker.transfer_outgoing_bytes_total

    with local_client(2) as client:
        assert isinstance(client, Client)
        on_disk = array.map_blocks(read, chunks=((3000,) * 6 + (2000,), (16,)), dtype=np.float32)
        held = array.from_array(big, chunks=(4096, 16))
        for pool in (on_disk, held):
            one = Learner(big, VariationalLogistic(), APM(), seed=0)
            other = Learner(pool, VariationalLogistic(), APM(), seed=0)
            for label in (0, 1):
                asked = one.ask(2).tolist()
                before = total(client.run(received))
                assert other.ask(2).tolist() == asked
                shipped = total(client.run(received)) - before
                assert shipped < big.nbytes / 20  # beliefs and leaders: rows would be twice or more
                one.tell(asked[0], label)
                other.tell(asked[0], label)
            assert str(other.explain(asked[1])) == str(one.explain(asked[1]))
            np.testing.assert_array_equal(other.predict(), one.predict())


def test_a_standardised_pool():
    one, other = (
        Learner(each, Belief(VariationalLogistic(), Standardised.of(X)), APM(), seed=0)
        for each in (X, placed_array())
    )
    assert other.ask(2).tolist() == one.ask(2).tolist()
