"""The same rows have the same mark, in memory, read or on a cluster."""

from typing import Any

import numpy as np
import pytest

from apm import APM, Learner, VariationalLogistic
from apm.encoders import Standardised
from apm.pools import StreamedRows
from apm.pools.blocks import Sliced
from apm.pools.marks import checksum, mark_of
from channelcode.errors import InvalidArgument

array = pytest.importorskip("dask.array")
X = np.random.default_rng(0).normal(size=(1500, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)


def forms(rows):
    return rows, StreamedRows(Sliced(rows)), Learner(array.from_array(rows, chunks=(214, 3))).pool


def test_all_forms_have_the_same_marks():
    for like in ("", "tiles-"):
        assert len({mark_of(each, like) for each in forms(X)}) == 1
    changed = X.copy()
    changed[-1, -1] += 1
    assert mark_of(changed, "tiles-") != mark_of(X, "tiles-")
    assert mark_of(X[::-1].copy(), "tiles-") != mark_of(X, "tiles-")
    assert mark_of(X.astype(np.float64), "tiles-") != mark_of(X, "tiles-")


@pytest.mark.parametrize("encoded", [False, True])
def test_a_learner_on_a_cluster_is_saved_and_loaded_without_its_rows(
    tmp_path, monkeypatch, encoded
):
    from apm import Belief

    belief = Belief(VariationalLogistic(), Standardised.of(X)) if encoded else VariationalLogistic()
    learner = Learner(array.from_array(X, chunks=(214, 3)), belief, APM(), seed=0)
    learner.tell([0, 9], [0, 1])
    path = tmp_path / "learner.npz"

    def fetched(*arguments, **options):
        raise AssertionError("rows were fetched")

    with monkeypatch.context() as patch:
        patch.setattr("apm.pools.placed._whole", fetched)
        learner.save(path)
        again = Learner.load(path, pool=array.from_array(X, chunks=(400, 3)))
    memory = Learner.load(path, pool=X)
    assert again.ask().tolist() == memory.ask().tolist() == learner.ask().tolist()
    other = X.copy()
    other[700] += 1
    with pytest.raises(InvalidArgument, match="fingerprint"):
        Learner.load(path, pool=array.from_array(other, chunks=(214, 3)))


def test_border_rows_that_change_are_noticed():
    own = X.copy()

    def part(block_info: Any = None):
        (first, last), _ = block_info[None]["array-location"]
        return own[first:last].copy()

    heights = (214,) * 7 + (2,)  # no multiple of a tile; the last is no home
    rows = array.map_blocks(part, chunks=(heights, (3,)), dtype=np.float32)
    learner = Learner(rows, VariationalLogistic(), APM(), seed=0)
    learner.tell(learner.ask(), 1)
    pool = learner.pool
    cuts = [cut for cuts in pool.lent(pool.tile_rows).values() for cut, _ in cuts]
    assert {7} < {cut.number for cut in cuts}
    begins = np.concatenate(([0], np.cumsum(heights)))
    for cut in cuts:
        row = begins[cut.number] + cut.first
        own[row, 0] += 1
        with pytest.raises(InvalidArgument, match="must not change while it is used"):
            learner.ask()
        own[row, 0] = X[row, 0]
    learner.ask()


def test_the_checksum_sees_entries_and_places():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for shape in ((1, 1), (3, 5), (700, 3), (2048, 64)):
            tile = rng.normal(size=shape).astype(dtype)
            own = checksum(tile)
            assert checksum(np.asfortranarray(tile)) == own
            for _ in range(5):
                other = tile.copy()
                place = tuple(rng.integers(shape))
                other[place] = np.nextafter(other[place], dtype(9))
                assert checksum(other) != own
            assert shape[0] < 2048 or checksum(tile[::-1]) != own
