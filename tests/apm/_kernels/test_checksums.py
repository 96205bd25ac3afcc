"""Checksums against sums of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from apm._kernels.checksums import SEGMENT, segment_sums
from tests.kernel_checks import assert_matches_py_func

WEIGHT = np.uint64(0x9E3779B97F4A7C15)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("count", [0, 1, SEGMENT - 1, SEGMENT, 3 * SEGMENT + 5])
def test_sums_of_segments(rng: np.random.Generator, count, dtype) -> None:
    words = rng.integers(np.iinfo(dtype).max, size=count, dtype=dtype, endpoint=True)
    expected = sum(
        (2 * k + 1) * int(WEIGHT) * sum(words[k * SEGMENT : (k + 1) * SEGMENT].tolist())
        for k in range(count // SEGMENT)
    )
    assert int(segment_sums(words, WEIGHT)) == expected % 2**64


def test_they_are_what_they_are_uncompiled() -> None:
    words = np.arange(2 * SEGMENT, dtype=np.uint64)
    with np.errstate(over="ignore"):
        assert_matches_py_func(segment_sums, words, WEIGHT)
