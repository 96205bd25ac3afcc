"""Rows in files: what is read is what is there, and what is gone is said."""

import os

import numpy as np
import pytest

from apm.pools import ParquetFile, RawFile, as_rows
from apm.pools.files import MappedFile
from channelcode.errors import InvalidArgument

X = np.random.default_rng(0).normal(size=(700, 3))


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i4", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files(tmp_path, dtype, order):
    kept = np.asarray(10 * X, dtype=dtype, order=order)
    np.save(tmp_path / "pool.npy", kept)
    rows = as_rows(tmp_path / "pool.npy")
    assert rows is not None
    plain = np.float32 if np.dtype(dtype) == np.float32 else np.float64
    assert rows.dtype == plain
    np.testing.assert_array_equal(rows[:], kept.astype(plain))


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps_and_views_of_them(tmp_path, mode):
    path = tmp_path / "pool"
    with open(path, "wb") as file:
        file.write(b"x" * 40)
        file.write(X.tobytes())
    mapped = np.memmap(path, dtype=np.float64, mode=mode, shape=X.shape, offset=40)
    for view in (mapped, mapped[100:], mapped[5:600:7], mapped[:, 1:]):
        rows = as_rows(view)
        assert rows is not None
        np.testing.assert_array_equal(rows[:], np.asarray(view))
    whole = RawFile.mapped(mapped)
    assert isinstance(whole, MappedFile if mode == "c" else RawFile)


def test_what_was_written_to_a_private_map_counts(tmp_path):
    np.save(tmp_path / "pool.npy", X)
    private = np.load(tmp_path / "pool.npy", mmap_mode="c")
    private[3, 1] = 77.0
    rows = as_rows(private)
    assert rows is not None
    assert rows[3][1] == 77.0


def test_results_of_sums_are_no_files(tmp_path):
    np.save(tmp_path / "pool.npy", X)
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    assert as_rows(mapped + 1.0) is None


def test_files_that_are_none(tmp_path):
    (tmp_path / "text.npy").write_text("no numbers")
    (tmp_path / "text.parquet").write_text("no numbers")
    np.save(tmp_path / "line.npy", X[:, 0])
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    for name, said in (
        ("text.npy", r"\.npy file"), ("line.npy", "two axes"), ("words.npy", "real numbers"),
        ("nowhere.npy", "nowhere"), ("pool.csv", r"\.npy, "),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=said):
            as_rows(str(tmp_path / name))
    pytest.importorskip("pyarrow")
    with pytest.raises(InvalidArgument, match="Parquet"):
        as_rows(tmp_path / "text.parquet")
    with pytest.raises(InvalidArgument, match="nowhere"):
        as_rows(tmp_path / "nowhere.parquet")


def test_a_file_that_was_cut(tmp_path):
    np.save(tmp_path / "pool.npy", X)
    rows = as_rows(tmp_path / "pool.npy")
    assert rows is not None
    os.truncate(tmp_path / "pool.npy", 128 + 24 * 500 + 3)
    with pytest.raises(InvalidArgument, match="ends in row 500"):
        rows[600:601]


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (None, "ends in column 2"),
        (lambda mapped: mapped, "ends in column 2"),
        (lambda mapped: mapped[10:600], "become shorter"),
        (lambda mapped: mapped[:, ::2], "become shorter"),
    ],
    ids=["path", "map", "rows", "columns"],
)
def test_a_file_of_columns_that_was_cut(tmp_path, view, said):
    path = tmp_path / "pool.npy"
    np.save(path, np.asfortranarray(X))
    mapped = np.load(path, mmap_mode="r")
    rows = as_rows(path if view is None else view(mapped))
    assert rows is not None
    np.testing.assert_array_equal(rows[:], X if view is None else view(X))
    assert rows.source.state() is not None
    os.truncate(path, 128 + 8 * 700 * 2 + 3)
    for read in (lambda: list(rows.source.blocks()), lambda: rows.source.read(500, 501)):
        with pytest.raises(InvalidArgument, match=said):
            read()


@pytest.mark.parametrize("group", [100, 256, 5000])
def test_parquet(tmp_path, group):
    pyarrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    names = ["a", "b", "c"]
    for dtype in (np.float32, np.float64, np.int64):
        kept = (10 * X).astype(dtype)
        table = pyarrow.table({name: kept[:, place] for place, name in enumerate(names)})
        parquet.write_table(table, tmp_path / "pool.parquet", row_group_size=group)
        rows = as_rows(tmp_path / "pool.parquet")
        assert rows is not None
        assert rows.columns == names
        expected = kept if dtype == np.float32 else kept.astype(np.float64)
        np.testing.assert_array_equal(rows[:], expected)
        np.testing.assert_array_equal(
            ParquetFile(tmp_path / "pool.parquet").read(90, 310), expected[90:310]
        )
    words = pyarrow.table({"a": ["x"], "b": [1.0]})
    parquet.write_table(words, tmp_path / "words.parquet")
    with pytest.raises(InvalidArgument, match="column 'a'"):
        as_rows(tmp_path / "words.parquet")


@pytest.mark.parametrize("chunks", [(64, 3), (700, 2), (1, 1)], ids=str)
def test_zarr_arrays_and_folders(tmp_path, chunks):
    zarr = pytest.importorskip("zarr")
    kept = zarr.create_array(str(tmp_path / "pool.zarr"), shape=X.shape, chunks=chunks, dtype="f8")
    kept[:] = X
    for pool in (tmp_path / "pool.zarr", kept):
        rows = as_rows(pool)
        assert rows is not None
        np.testing.assert_array_equal(rows[:], X)
        np.testing.assert_array_equal(rows[[5, 699, 0]], X[[5, 699, 0]])
    with pytest.raises(InvalidArgument, match="pool"):
        as_rows(tmp_path / "gone.zarr")


def test_a_folder_that_is_no_zarr_array_is_refused(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "other.zarr").mkdir()
    (tmp_path / "other.zarr" / "notes.txt").write_text("no array")
    with pytest.raises(InvalidArgument, match="pool"):
        as_rows(tmp_path / "other.zarr")


def test_memory_of_blocks_is_used_again_only_if_nobody_holds_them(tmp_path):
    X = np.random.default_rng(0).normal(size=(40_000, 64)).astype(np.float32)
    np.save(tmp_path / "pool.npy", X)
    source = RawFile.npy(tmp_path / "pool.npy")
    held = [block[3:] for block in source.blocks()]  # views of all blocks
    height = len(held[0]) + 3
    for place, block in enumerate(held):
        assert np.array_equal(block, X[place * height + 3 : (place + 1) * height])
    places = {block.__array_interface__["data"][0] for block in source.blocks()}
    assert len(places) < len(held)


def test_a_map_of_the_first_rows_of_a_file_that_grows(tmp_path):
    path = tmp_path / "pool"
    path.write_bytes(X.tobytes())
    whole = as_rows(np.memmap(path, dtype=np.float64, mode="r", shape=X.shape))
    some = as_rows(np.memmap(path, dtype=np.float64, mode="r", shape=(400, 3)))
    assert whole is not None
    assert some is not None
    path.write_bytes(X.tobytes() + X[:9].tobytes())
    os.utime(path, ns=(1, 1))
    np.testing.assert_array_equal(some[:], X[:400])
    with pytest.raises(InvalidArgument, match="grown from 16800 to 17016 bytes"):
        whole[3]
    path.write_bytes(X.tobytes())  # back again
    np.testing.assert_array_equal(whole[:], X)
