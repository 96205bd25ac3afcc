"""A learner on a pool that is not held in memory: kept, checked, refused, gone on with."""

import os
from typing import Any

import numpy as np
import pytest

from apm import APM, BALD, EPIG, InformationGain, Learner, Random, Uncertainty, VariationalLogistic
from apm.pools.blocks import Sliced
from apm.storage.lines import JournalError
from channelcode.errors import InvalidArgument


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)


def data(dtype: Any = np.float32):
    X = np.random.default_rng(0).normal(size=(1300, 6)).astype(dtype)
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


def on_disk(tmp_path):
    X, y = data()
    np.save(tmp_path / "pool.npy", X)
    return X, y, str(tmp_path / "pool.npy")


@pytest.mark.parametrize("model", [None, VariationalLogistic(0.1, intercept=True)], ids=["-", "m"])
def test_everything_is_as_in_memory(tmp_path, model):
    X, y, path = on_disk(tmp_path)
    learners = [Learner(pool, model, seed=2) for pool in (X, path, np.load(path, mmap_mode="r"))]
    for learner in learners:
        learner.run(y, 4)
        learner.skip(int(learner.ask()))
        learner.tell(learner.ask(2), [0, 1])
        learner.undo()
    memory, *streamed = learners
    for learner in streamed:
        assert learner.labelled.tolist() == memory.labelled.tolist()
        assert learner.ask(2).tolist() == memory.ask(2).tolist()
        np.testing.assert_array_equal(learner.predict(), memory.predict())
        np.testing.assert_allclose(learner.predict_proba(), memory.predict_proba(), rtol=1e-5)
        np.testing.assert_array_equal(learner.predict(X[:9]), memory.predict(X[:9]))
        assert learner.stop_advice().accuracy == pytest.approx(
            memory.stop_advice().accuracy, rel=1e-5
        )
        np.testing.assert_allclose(learner.curve().accuracy, memory.curve().accuracy, rtol=1e-5)
        gains = learner.belief.information_gain(learner.pool)
        np.testing.assert_allclose(gains, memory.belief.information_gain(X), rtol=1e-4, atol=1e-9)
        assert "1300 rows" in repr(learner)
        assert "1300" in learner._repr_html_()


def test_saved_by_fingerprint_and_gone_on_with(tmp_path):
    X, y, path = on_disk(tmp_path)
    learner = Learner(path, seed=2)
    learner.run(y, 5)
    file = learner.save(tmp_path / "learner.npz")
    assert os.path.getsize(file) < 60_000
    given: Any
    for given in ({}, {"pool": path}, {"pool": X}, {"pool": lambda: iter(np.array_split(X, 3))}):
        again = Learner.load(file, **given)
        assert again.ask(3).tolist() == learner.ask(3).tolist()
        assert again.labelled.tolist() == learner.labelled.tolist()
    with pytest.raises(InvalidArgument, match="fingerprint"):
        Learner.load(file, pool=X + 1)
    os.rename(path, tmp_path / "moved.npy")
    with pytest.raises(InvalidArgument, match="must be given to load"):
        Learner.load(file)
    assert Learner.load(file, pool=tmp_path / "moved.npy").ask().tolist() == learner_ask(X, y)


@pytest.mark.parametrize("kind", ["raw", "part"])
def test_maps_that_a_path_does_not_give_must_be_given_to_load(tmp_path, kind):
    X, y, path = on_disk(tmp_path)
    pool = np.load(path, mmap_mode="r")[:1000]
    if kind == "raw":
        X.tofile(tmp_path / "pool.bin")
        pool = np.memmap(tmp_path / "pool.bin", X.dtype, "r", shape=X.shape)
    learner = Learner(pool, seed=2)
    learner.tell(range(5), y[:5])
    file = learner.save(tmp_path / "learner.npz")
    with pytest.raises(InvalidArgument, match="must be given to load"):
        Learner.load(file)
    assert Learner.load(file, pool=pool).ask(2).tolist() == learner.ask(2).tolist()


def learner_ask(X, y):
    learner = Learner(X, seed=2)
    learner.run(y, 5)
    return learner.ask().tolist()


def test_journals_of_memory_and_of_streams_are_one(tmp_path):
    X, y, path = on_disk(tmp_path)
    first = Learner(X, VariationalLogistic(), APM(), seed=0)
    first.record_to(tmp_path / "labels.jsonl")
    first.run(y, 3)
    first.stop_recording()
    second = Learner(path, VariationalLogistic(), APM(), seed=0)
    assert second.record_to(tmp_path / "labels.jsonl") == 3
    second.stop_recording()
    assert second.labelled.tolist() == first.labelled.tolist()


def test_a_journal_of_dask_rows_fetches_none(tmp_path, monkeypatch):
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    from apm.pools.placed import PlacedRows

    X, y = data()
    dask, memory, stream = (
        Learner(pool, VariationalLogistic(), APM(), seed=0)
        for pool in (array.from_array(X, chunks=(400, 6)), X, lambda: iter(np.array_split(X, 3)))
    )
    with monkeypatch.context() as patch:
        patch.setattr(PlacedRows, "tiles", None)  # by which rows are fetched
        dask.record_to(tmp_path / "dask.jsonl")
        dask.tell([3, 5], y[[3, 5]])
        dask.stop_recording()
    for learner in (memory, stream):
        assert learner.record_to(tmp_path / "dask.jsonl") == 1
        assert learner.labelled.tolist() == [3, 5]
        learner.stop_recording()
    memory.record_to(tmp_path / "memory.jsonl")
    memory.stop_recording()
    assert dask.record_to(tmp_path / "memory.jsonl") == 1
    dask.stop_recording()
    other = Learner(X + 1, VariationalLogistic(), APM(), seed=0)
    with pytest.raises(JournalError, match="another pool"):
        other.record_to(tmp_path / "dask.jsonl")


@pytest.mark.parametrize("form", ["rows", "columns", "view"])
@pytest.mark.parametrize("change", ["other", "shorter", "longer", "gone"])
def test_a_pool_that_changes_is_refused_and_the_labels_are_kept(tmp_path, change, form):
    X, y, path = on_disk(tmp_path)
    X = np.asfortranarray(X) if form == "columns" else X
    np.save(path, X)
    pool = np.load(path, mmap_mode="r")[:, ::-1] if form == "view" else path
    learner = Learner(pool, VariationalLogistic(), InformationGain(), seed=0)
    learner.run(y, 3)
    kept, asked = learner.labelled.tolist(), learner.ask().tolist()
    if change == "gone":
        os.rename(path, tmp_path / "elsewhere.npy")
    elif change == "shorter":
        os.truncate(path, 20_000)
    elif change == "longer":
        more = np.concatenate((X, X[:5]))
        np.save(path, np.asfortranarray(more) if form == "columns" else more)
    else:
        mapped = np.load(path, mmap_mode="r+")
        mapped[1000, 3] += 1.0
        mapped.flush()
    for call in (learner.ask, lambda: learner.ask(2), lambda: learner.explain(5), learner.predict):
        with pytest.raises(InvalidArgument, match="pool"):
            call()
    assert learner.labelled.tolist() == kept
    assert len(learner.history) == 3
    if change == "gone":
        os.rename(tmp_path / "elsewhere.npy", path)
    else:
        np.save(path, X)
    assert learner.ask().tolist() == asked


def test_what_a_streamed_pool_cannot_do(tmp_path):
    from apm import Inputs
    from apm.encoders import Expert
    from channelcode import Logistic

    X, _, path = on_disk(tmp_path)
    learner = Learner(path, VariationalLogistic(), seed=0)
    with pytest.raises(InvalidArgument, match="write them to its source"):
        learner.extend(X[:2])
    with pytest.raises(InvalidArgument, match="in memory where there are experts"):
        Learner(path, experts=[Expert(Logistic(), 1.0, "a"), Expert(Logistic(), 2.0, "b")])
    posterior = Inputs(np.zeros((3, 4)), Logistic())
    with pytest.raises(InvalidArgument, match="knows rows by number"):
        Learner(path, posterior)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_far_beyond_the_others(tmp_path, dtype):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 5)).astype(dtype)
    X[700] *= 1e8
    np.save(tmp_path / "pool.npy", X)
    one, other = (
        Learner(pool, VariationalLogistic(100.0), InformationGain(), seed=0)
        for pool in (X, tmp_path / "pool.npy")
    )
    for learner in (one, other):
        learner.tell(range(4), [0, 1, 0, 1])
    for _ in range(3):
        row = int(one.ask())
        assert int(other.ask()) == row
        for learner in (one, other):
            learner.tell(row, 1)


def test_column_names_of_a_file(tmp_path):
    pyarrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    X, y = data()
    names = list("abcdef")
    table = pyarrow.table({name: X[:, place] for place, name in enumerate(names)})
    parquet.write_table(table, tmp_path / "pool.parquet", row_group_size=200)
    learner = Learner(tmp_path / "pool.parquet", seed=2)
    learner.run(y, 3)
    assert learner.feature_names_in_.tolist() == names
    memory = Learner(X, seed=2)
    memory.run(y, 3)
    assert learner.ask(3).tolist() == memory.ask(3).tolist()


def test_a_mode_beyond_range_is_refused_as_in_memory():
    X = np.random.default_rng(0).normal(size=(1500, 5)) * 1e130
    for pool in (X, Sliced(X)):
        learner = Learner(pool, VariationalLogistic(1e-6, intercept=True), Uncertainty(), seed=1)
        learner.tell(range(4), [0, 1, 1, 0])
        if np.isfinite(learner.belief.posterior.map).all():
            learner.tell(learner.ask(), [1])
        with pytest.raises(InvalidArgument, match="must not be NaN"):
            learner.ask()


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("width", [2, 40])
def test_pools_of_a_few_rows(rows, width):
    X = np.random.default_rng(rows).normal(size=(rows, width)).astype(np.float32)
    one, other = (Learner(pool, seed=0) for pool in (X, lambda: iter([X[:1], X[1:]])))
    for count in range(1, min(rows, 3) + 1):
        assert other.ask(count).tolist() == one.ask(count).tolist()
    assert other.explain(0).score == one.explain(0).score
    np.testing.assert_array_equal(other.predict_proba(), one.predict_proba())


@pytest.mark.parametrize("rule", [EPIG(num_targets=30), BALD(), InformationGain(), Random()])
def test_what_bohning_draws_is_drawn_alike(rule):
    from apm import Bohning

    X, y = data(np.float64)
    learners = [Learner(pool, Bohning(3, 0.3), rule, seed=1) for pool in (X, Sliced(X))]
    for _ in range(4):
        rows = [learner.ask(2).tolist() for learner in learners]
        assert rows[0] == rows[1]
        scores = [learner.explain(rows[0][0]).score for learner in learners]
        assert scores[0] == pytest.approx(scores[1], rel=1e-9)
        for learner in learners:
            learner.tell(rows[0], y[rows[0]])


def test_bohning_asks_the_same_of_equal_rows(monkeypatch):
    from apm import Bohning

    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 4))[rng.integers(25, size=900)]
    y = np.argmax(X @ rng.normal(size=(4, 3)), axis=1)
    learners = [Learner(pool, Bohning(3, 0.03), seed=0) for pool in (X, Sliced(X))]
    for learner in learners:
        learner.tell(range(4), y[:4])
    for _ in range(30):
        memory, stream = (learner.ask(2).tolist() for learner in learners)
        assert memory == stream
        for learner in learners:
            learner.tell(memory, y[memory])
