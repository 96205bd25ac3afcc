"""Tiles: how many rows they have, and which pools have several."""

import numpy as np
import pytest

from apm.pools import Yielded
from apm.pools.streamed import StreamedRows
from apm.pools.tiling import is_tiled, tile_rows


def test_tiles_of_all_widths_fit_each_other():
    for columns in (1, 3, 64, 5000, 10**6):
        for size in (4, 8):
            rows = tile_rows(columns, size)
            assert rows & (rows - 1) == 0
            assert 256 <= rows <= 32768


@pytest.mark.parametrize(("rows", "tiled"), [(256, False), (32768, False), (32769, True)])
def test_a_pool_is_tiled_if_it_has_more_than_one(rows, tiled):
    X = np.zeros((rows, 2))
    assert is_tiled(X) == tiled
    assert is_tiled(StreamedRows(Yielded(lambda: iter([X])))) == tiled
    assert not is_tiled([[1.0]])
