"""How a pool is cut into tiles, in memory and on the disk alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.pools.inputs import is_streamed

TILE_BYTES = 1 << 21  # larger tiles leave the cache, smaller ones cost more calls
LEAST, MOST = 8, 15  # binary logarithms of the rows of a tile
LEAST_ROWS = 1 << LEAST


def tile_rows(columns: int, itemsize: int) -> int:
    """How many rows a tile has: a power of two, so that tiles of all widths fit each other.

    >>> tile_rows(64, 4), tile_rows(1, 8)
    (8192, 32768)
    """
    fitting = (TILE_BYTES // (columns * itemsize)).bit_length() - 1
    return 1 << min(max(fitting, LEAST), MOST)


def is_tiled(X: Any) -> bool:
    """Whether a pool has more than one tile."""
    if isinstance(X, np.ndarray):
        return len(X) > LEAST_ROWS and len(X) > tile_rows(X.shape[1], X.itemsize)
    return is_streamed(X) and X.num_tiles > 1
