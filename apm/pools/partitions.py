"""Rows of Dask collections, computed partition by partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from apm.pools.blocks import Blocks
from channelcode.errors import InvalidArgument


class DaskRows(Blocks):
    """The rows of a Dask array `(n, d)`, or of a frame of numbers; one partition at a time.

    A partition is computed when its rows are needed, and let go.

    >>> import dask.array as dask_array  # doctest: +SKIP
    >>> rows = dask_array.from_array(np.arange(6.0).reshape(3, 2), chunks=(2, 2))  # doctest: +SKIP
    >>> [len(block) for block in DaskRows(rows).blocks()]  # doctest: +SKIP
    [2, 1]
    """

    def __init__(self, rows: Any) -> None:
        if getattr(rows, "ndim", None) != 2:
            raise InvalidArgument("pool", "must have two axes", type(rows).__name__)
        self._frame = hasattr(rows, "npartitions") and hasattr(rows, "columns")
        if self._frame:
            self.columns = [str(name) for name in rows.columns]
        else:
            rows = rows.rechunk({1: -1})  # whole rows
        self._rows = rows

    def blocks(self) -> Iterator[Any]:
        parts: Any = self._rows.partitions if self._frame else self._rows.blocks
        count = self._rows.npartitions if self._frame else self._rows.numblocks[0]
        for number in range(count):
            yield np.asarray(parts[number].compute())

    @property
    def name(self) -> str:
        return "a Dask collection"
