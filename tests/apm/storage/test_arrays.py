"""Arrays under one checksum; damage is in tests/torture."""

from __future__ import annotations

import numpy as np
import pytest

from apm.storage import read_arrays, write_arrays
from channelcode.errors import InvalidArgument

ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "single": np.array([1.5], dtype=np.float32),
    "none": np.empty((0, 4)),
    "scalar": np.array(3),
    "truth": np.array([True, False]),
    "text": np.array(["a", "bcd", ""]),
    "bytes": np.array([b"a", b"bc"]),
    "large": np.array([2**63], dtype=np.uint64),
    "other order": np.array([1.5, 2.5], dtype=">f8"),
}


def test_what_is_written_is_read(tmp_path):
    path = write_arrays(tmp_path / "a.npz", {"label": np.int64(3), "é": [1.5, None]}, ARRAYS)
    header, arrays = read_arrays(path, "a file")
    assert header == {"label": 3, "é": [1.5, None]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    with np.load(path, allow_pickle=False) as plain:  # numpy reads it too
        np.testing.assert_array_equal(plain["array/numbers"], ARRAYS["numbers"])


@pytest.mark.parametrize(
    "array",
    [np.array([object()]), np.array([1j]), np.array(["2020"], dtype="M8[D]"), np.zeros(1, "f4,i4")],
)
def test_other_arrays_are_refused_before_anything_is_written(array, tmp_path):
    with pytest.raises(InvalidArgument, match="part must"):
        write_arrays(tmp_path / "a.npz", {}, {"part": array})
    assert list(tmp_path.iterdir()) == []


def test_compressed_and_foreign_archives_are_refused(tmp_path):
    from apm.storage.arrays import _seal

    for place, save in enumerate((np.savez, np.savez_compressed)):
        path = tmp_path / f"{place}.npz"
        with open(path, "w+b") as file:
            save(file, header=np.frombuffer(b"[1]", dtype=np.uint8), other=np.eye(2))
            _seal(file)
        with pytest.raises(InvalidArgument, match="path must be a file of mine"):
            read_arrays(path, "a file of mine")
