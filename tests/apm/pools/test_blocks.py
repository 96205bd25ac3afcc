"""Blocks of any heights are the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.pools import Sliced, Yielded
from apm.pools.blocks import Blocks, regrouped
from channelcode.errors import InvalidArgument


@given(heights=st.lists(st.integers(0, 9), max_size=12), rows=st.integers(1, 7))
def test_regrouped_blocks_are_the_same_rows(heights, rows):
    X = np.arange(2.0 * sum(heights)).reshape(-1, 2)
    parts = np.split(X, np.cumsum(heights)[:-1]) if heights else []
    pieces = list(regrouped(iter(parts), rows))
    assert all(len(piece) == rows for piece in pieces[:-1])
    assert all(0 < len(piece) <= rows for piece in pieces)
    joined = np.concatenate(pieces) if pieces else X
    np.testing.assert_array_equal(joined, X)


def test_rows_are_read_through_blocks_and_by_slices():
    X = np.arange(20.0).reshape(10, 2)
    through = Yielded(lambda: iter(np.array_split(X, 4)))
    for start, stop in ((0, 1), (2, 9), (9, 10)):
        np.testing.assert_array_equal(through.read(start, stop), X[start:stop])
        np.testing.assert_array_equal(Sliced(X, height=3).read(start, stop), X[start:stop])
    np.testing.assert_array_equal(np.concatenate(list(Sliced(X, height=3).blocks())), X)
    assert not through.seekable
    assert Sliced(X).seekable


def test_what_does_not_yield_is_refused():
    with pytest.raises(InvalidArgument, match="must yield blocks"):
        Yielded(lambda: 3).blocks()
    with pytest.raises(InvalidArgument, match="two axes"):
        Sliced(np.zeros(3))
    with pytest.raises(TypeError):
        Blocks()  # type: ignore[abstract]
