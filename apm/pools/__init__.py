"""Feature matrices of pools: `inputs` checks what comes in, `sparse` holds sparse rows.

Pools that do not fit in memory: `blocks` are sources of rows, `files` those on disk, `partitions`
Dask collections, and `streamed` reads any of them tile by tile.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.pools.blocks import Blocks as Blocks
    from apm.pools.blocks import Sliced as Sliced
    from apm.pools.blocks import Yielded as Yielded
    from apm.pools.files import ParquetFile as ParquetFile
    from apm.pools.files import RawFile as RawFile
    from apm.pools.streamed import StreamedRows as StreamedRows
    from apm.pools.streamed import as_rows as as_rows
else:
    attach(
        __name__,
        {
            "blocks": "Blocks Sliced Yielded",
            "files": "ParquetFile RawFile",
            "streamed": "StreamedRows as_rows",
        },
    )
