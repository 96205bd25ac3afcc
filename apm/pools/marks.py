"""By which a pool is known again: the fingerprint of its rows, or that of its tiles.

The SHA-256 of all rows in order needs them in one place. Rows on a cluster are known by the SHA-256
of those of their tiles, which are found where the rows lie; any other form of the same rows can
give it too. A checksum says at each reading, and quickly, whether a tile is what it was.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from apm.pools.inputs import is_sparse, is_streamed
from apm.pools.tiling import tile_rows
from apm.storage.fingerprint import fingerprint

BY_TILES = "tiles-"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mark_of(pool: Any, like: str | None = None) -> str:
    """The mark of a pool, in the same form as another mark if one is given.

    >>> X = np.arange(6.0).reshape(3, 2)
    >>> mark_of(X) == fingerprint(X), mark_of(X, "tiles-")[:6]
    (True, 'tiles-')
    """
    placed = is_streamed(pool) and pool.placed
    by_tiles = placed if like is None else like.startswith(BY_TILES)
    if not by_tiles or is_sparse(pool):
        return pool.fingerprint if is_streamed(pool) else fingerprint(pool)
    if placed:
        from apm.pools.placed import values_of

        digests = values_of(pool, _digest)
    elif is_streamed(pool):
        digests = [_digest(start, tile, None) for start, tile in pool.tiles()]
    else:
        height = tile_rows(pool.shape[1], pool.itemsize)
        starts = range(0, len(pool), height)
        digests = [_digest(start, pool[start : start + height], None) for start in starts]
    plain = np.dtype(pool.dtype).newbyteorder("<").str
    head = repr((plain, tuple(pool.shape))).encode()
    return BY_TILES + hashlib.sha256(head + b"".join(digests)).hexdigest()


def _digest(_: int, tile: Any, places: Any) -> bytes:
    plain = np.ascontiguousarray(tile.astype(tile.dtype.newbyteorder("<"), copy=False))
    return hashlib.sha256(plain.data).digest()


def checksum(tile: Any) -> int:
    """A number that changes with any single entry of a tile, and with the order of its parts."""
    from apm._kernels.checksums import SEGMENT, segment_sums

    flat = np.ascontiguousarray(tile).reshape(-1)
    words = flat.view(np.uint64 if flat.nbytes % 8 == 0 else np.uint32)
    whole = len(words) - len(words) % SEGMENT
    parts = int(segment_sums(words, GOLDEN))
    return (parts + int(words[whole:].sum(dtype=np.uint64)) + flat.nbytes) % 2**64
