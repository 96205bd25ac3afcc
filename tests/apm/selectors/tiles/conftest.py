"""Pools of many tiles without many rows."""

import pytest


@pytest.fixture(scope="module")
def small_tiles():
    """Tiles of 4 KiB, so that a few thousand rows are many tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apm.pools.tiling.TILE_BYTES", 1 << 12)
        yield
