"""Pools that are read tile by tile: what stands for a matrix where the rows do not fit in memory.

A tile is a run of rows whose number follows from the width and the type of the rows alone. Blocks
are cut to tiles as they come, and pools in memory are scored by the same tiles, so the same numbers
come out to the last bit, however the rows are stored.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from apm.pools.blocks import Blocks, Yielded, regrouped
from apm.pools.inputs import (
    as_matrix,
    is_sparse,
    is_streamed,
    require_finite,
    require_unmasked,
)
from apm.pools.marks import checksum
from apm.pools.tiling import tile_rows
from apm.storage.fingerprint import streamed_fingerprint
from channelcode.errors import InvalidArgument


class Streamed(ABC):
    """Rows `(n, d)` that are read when they are needed, and known by `tiles`.

    Slices and lists of rows give arrays, as of a matrix; each reads the tiles that it needs.
    """

    ndim = 2
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    tile_rows: int
    _fingerprint: str | None = None
    placed: bool = False  # on a cluster, where functions are sent to them (`apm.pools.placed`)
    #: Lengths and balls from the first pass over rows that can be read from anywhere.
    outlines: Any = None  # (`apm.pools.outlines`)
    #: What is remembered of each tile, for questions that need not read all of them.
    records: Any = None
    kept: Any = None  # and of each row (`apm.selectors.tiles.kept_forms`)
    misses: int = 0  # questions in a row that it did not help
    products: int = 0  # with each row, that bounds of its forms are given
    worn_from: float = float("inf")  # labels from which lengths say too little of them

    @abstractmethod
    def tiles(self, which: Any = None) -> Iterator[tuple[int, Any]]:
        """First row and rows of each tile, in order: of all, or of those with these numbers."""

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def num_tiles(self) -> int:
        """How many tiles there are."""
        return -(-self.shape[0] // self.tile_rows)

    @property
    def seekable(self) -> bool:
        """Whether a tile can be read without those before it."""
        return False

    @property
    def quick(self) -> bool:
        """Whether reading a tile alone costs little more than its share of a pass."""
        return False

    @property
    def itemsize(self) -> int:
        """The bytes of one number."""
        return self.dtype.itemsize

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """The bytes of all numbers, none of which are held."""
        return self.size * self.itemsize

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1 or (self.placed and stop - start < self.tile_rows):
                return self[np.arange(start, stop, step)]
            if stop <= start:
                return np.empty((0, self.shape[1]), self.dtype)
            first, last = start // self.tile_rows, (stop - 1) // self.tile_rows
            parts = [
                tile[max(start - begin, 0) : stop - begin]
                for begin, tile in self.tiles(np.arange(first, last + 1))
            ]
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        rows = np.asarray(key)
        if rows.dtype.kind not in "iu" and rows.size:
            raise IndexError("streamed rows are indexed by a slice or by row numbers")
        rows = rows.astype(np.intp)
        if rows.ndim == 0:
            return self[rows[None]][0]
        rows = np.where(rows < 0, rows + len(self), rows)
        if rows.ndim != 1 or (rows.size and not 0 <= rows.min() <= rows.max() < len(self)):
            raise IndexError(f"row numbers must be a list within {len(self)} rows")
        if self.placed and rows.size:
            from apm.pools.placed import taken

            return taken(self, rows)
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        tile_of = rows // self.tile_rows
        for begin, tile in self.tiles(np.unique(tile_of)):
            places = np.flatnonzero(tile_of == begin // self.tile_rows)
            found[places] = tile[rows[places] - begin]
        return found

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the matrix (`apm.storage.fingerprint`); read once for it."""
        if self._fingerprint is None:
            pieces = (tile for _, tile in self.tiles())
            self._fingerprint = streamed_fingerprint(self.dtype, self.shape, pieces)
        return self._fingerprint

    def pieces(self, rows: int) -> Iterator[Any]:
        """All rows in pieces of `rows` rows each."""
        return regrouped((tile for _, tile in self.tiles()), rows)


class StreamedRows(Streamed):
    """The rows of a source, checked at a first pass, and compared with it whenever they are read.

    The first pass looks at width, type and finiteness, and keeps a checksum of every tile, and its
    outline where rows can be read from anywhere. A tile that has another checksum later is refused:
    the pool has changed under the learner.

    >>> blocks = [np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])]
    >>> rows = StreamedRows(Yielded(lambda: iter(blocks)))
    >>> rows.shape, rows[1:].tolist()
    ((3, 2), [[3.0, 4.0], [5.0, 6.0]])
    """

    def __init__(self, source: Blocks) -> None:
        if not isinstance(source, Blocks):
            raise InvalidArgument("source", "must be a source of blocks", source)
        self.source = source
        self.columns = source.columns
        self._state = source.state()
        self._given: np.dtype[Any] | None = None
        blocks = self._blocks()
        first = next(blocks, None)
        if first is None:
            raise InvalidArgument("pool", "must have at least one row", f"none in {source.name}")
        self.shape, self.dtype = (0, first.shape[1]), first.dtype
        self.tile_rows = tile_rows(first.shape[1], first.itemsize)
        sums, rows = [], 0
        outlines = None
        if self.quick:
            from apm.pools.outlines import Outlines  # pools in memory have none

            outlines = Outlines(self.tile_rows)
        for tile in regrouped(chain([first], blocks), self.tile_rows):
            require_finite(tile, "pool", first_row=rows)
            sums.append(checksum(tile))
            rows += len(tile)
            if outlines is not None:
                outlines.add(tile)
        self.shape = (rows, first.shape[1])
        self._sums = sums
        self.outlines = None if outlines is None else outlines.done()

    @property
    def seekable(self) -> bool:
        return self.source.seekable

    @property
    def quick(self) -> bool:
        return self.source.seekable and self.source.quick

    @property
    def path(self) -> str | None:
        """Where the rows are, if they are in a file."""
        return self.source.path

    def tiles(self, which: Any = None) -> Iterator[tuple[int, Any]]:
        self._watch()
        height, numbers = self.tile_rows, None if which is None else [int(k) for k in which]
        if numbers == []:
            return
        if numbers is not None and self.source.seekable:
            for number in numbers:
                start = number * height
                rows = self.source.read(start, min(start + height, len(self)))
                yield start, self._same(number, self._block(rows, f"rows {start} on"))
            return
        wanted = None if numbers is None else set(numbers)
        last = self.num_tiles - 1 if numbers is None else max(numbers, default=-1)
        number = -1
        for number, tile in enumerate(regrouped(self._blocks(), height)):
            if wanted is None or number in wanted:
                yield number * height, self._same(number, tile)
            if number == last and wanted is not None:
                return
        if number != last:
            self._changed(f"it has {'more' if number > last else 'fewer'} rows")

    def _watch(self) -> None:
        """Look at every tile once if the source says that it may have changed."""
        now = self.source.state()
        if now == self._state:
            return
        grown = self.source.growth()
        if grown is not None:
            self._changed(grown)
        number = -1
        for number, tile in enumerate(regrouped(self._blocks(), self.tile_rows)):
            self._same(number, tile)
        if number != self.num_tiles - 1:
            self._changed("it has fewer rows")
        self._state = now  # touched, with the same numbers in it

    def _same(self, number: int, tile: Any) -> Any:
        """The tile, if it is what it was at the first pass."""
        start = number * self.tile_rows
        if number >= self.num_tiles:
            self._changed("it has more rows")
        expected = min(self.tile_rows, len(self) - start)
        if len(tile) != expected or checksum(tile) != self._sums[number]:
            if len(tile) == expected:
                require_finite(tile, "pool", first_row=start)
            self._changed(f"rows {start} to {start + expected - 1} are others than at first")
        return tile

    def _changed(self, what: str) -> NoReturn:
        rule = f"must not change while it is used, but {what}"
        raise InvalidArgument("pool", rule, f"rows of {self.source.name}")

    def _blocks(self) -> Iterator[Any]:
        rows = 0
        for number, block in enumerate(self.source.blocks()):
            where = f"block {number}, from row {rows} on"
            found = self._block(block, where)
            rows += len(found)
            if len(found):
                yield found

    def _block(self, given: Any, where: str) -> Any:
        """A block as floats, if it is like the first one."""
        if is_sparse(given):
            raise InvalidArgument("pool", f"must be dense in {where}", "sparse")
        require_unmasked(given, "pool", f" in {where}")
        block = np.asarray(given)
        if block.ndim != 2 or block.shape[1] == 0:
            rule = f"must have two axes and at least one column in {where}"
            raise InvalidArgument("pool", rule, f"shape {block.shape}")
        if block.dtype.kind not in "buif":
            raise InvalidArgument("pool", f"must hold real numbers in {where}", block.dtype)
        if self._given is None:
            self._given, self._width = block.dtype, block.shape[1]
        if block.shape[1] != self._width:
            rule = f"must have {self._width} columns in {where}, as before"
            raise InvalidArgument("pool", rule, f"shape {block.shape}")
        if block.dtype != self._given:
            rule = f"must be of type {self._given} in {where}, as before"
            raise InvalidArgument("pool", rule, block.dtype)
        # in one order whatever the source has: products of the other may round differently
        return np.ascontiguousarray(as_matrix(block, "pool", finite=False))

    def __repr__(self) -> str:
        return f"StreamedRows({self.shape[0]} x {self.shape[1]} {self.dtype}, {self.source.name})"


class EncodedRows(Streamed):
    """Streamed rows behind an encoder, encoded as they are read.

    >>> rows = StreamedRows(Yielded(lambda: iter([np.eye(2)])))
    >>> EncodedRows(rows, lambda X: 2 * X)[1:].tolist()
    [[0.0, 2.0]]
    """

    def __init__(self, rows: StreamedRows, encode: Callable[[Any], Any]) -> None:
        self.rows, self._encode = rows, encode
        self.placed = rows.placed
        first = self._encoded(0, rows[:1])
        self.shape, self.dtype = (len(rows), first.shape[1]), first.dtype
        self.tile_rows = tile_rows(first.shape[1], first.itemsize)

    @property
    def seekable(self) -> bool:
        return self.rows.seekable

    @property
    def quick(self) -> bool:
        return self.rows.quick

    def tiles(self, which: Any = None) -> Iterator[tuple[int, Any]]:
        height, raw = self.tile_rows, self.rows.tile_rows
        if which is None:
            start = 0
            for piece in self.rows.pieces(height):
                yield start, self._encoded(start, piece)
                start += len(piece)
            return
        for number in which:
            start = int(number) * height
            if height >= raw:
                yield start, self._encoded(start, self.rows[start : start + height])
            else:
                ((begin, tile),) = self.rows.tiles([start // raw])
                yield start, self._encoded(start, tile[start - begin : start - begin + height])

    def _encoded(self, start: int, rows: Any) -> Any:
        found = as_matrix(self._encode(rows), "encoder(pool)", finite=False)
        require_finite(found, "encoder(pool)", first_row=start)
        return np.ascontiguousarray(found)


def over_tiles(X: Any, function: Callable[[Any], Any]) -> Any:
    """`function(X)`, or for streamed rows its values for every tile, joined.

    >>> rows = StreamedRows(Yielded(lambda: iter([np.eye(2)])))
    >>> over_tiles(rows, lambda X: X.sum(axis=1)).tolist()
    [1.0, 1.0]
    """
    if not is_streamed(X):
        return function(X)
    if X.placed:
        from apm.pools.placed import values_of

        return np.concatenate(values_of(X, lambda start, tile, places: np.asarray(function(tile))))
    found = None
    for start, tile in X.tiles():
        values = np.asarray(function(tile))
        if found is None:
            found = np.empty((len(X), *values.shape[1:]), values.dtype)
        found[start : start + len(tile)] = values
    return found


def as_rows(pool: Any) -> StreamedRows | None:
    """The pool as streamed rows, if it is not one to be held in memory (`source_of`)."""
    if isinstance(pool, StreamedRows):
        return pool
    source = source_of(pool)
    return None if source is None else source.streamed()


def source_of(pool: Any) -> Blocks | None:
    """The source of a pool that is not to be held in memory; nothing of it is read yet.

    - a `numpy.memmap`, a path to a `.npy`, `.parquet` or `.zarr` file, an array of Zarr;
    - a Dask array or frame;
    - a function that yields blocks `(rows, d)` anew at each call; a member of `Blocks`.

    None for arrays, lists, frames and sparse matrices.
    """
    if isinstance(pool, Blocks):
        return pool
    if isinstance(pool, np.memmap):
        from apm.pools.files import RawFile

        mapped = pool.ndim == 2 and getattr(pool, "_mmap", None) is not None
        return RawFile.mapped(pool) if mapped else None
    if isinstance(pool, np.ndarray | list | tuple):
        return None
    if isinstance(pool, str | os.PathLike):
        from apm.pools.files import file_rows

        return file_rows(pool)
    home = type(pool).__module__.partition(".")[0]
    if home == "zarr" and hasattr(pool, "chunks"):
        from apm.pools.files import from_zarr

        return from_zarr(pool)
    if home.startswith("dask") and hasattr(pool, "__dask_graph__"):
        from apm.pools.partitions import DaskRows

        return DaskRows(pool)
    if hasattr(pool, "__next__"):
        rule = "must be a function that yields blocks anew at each call, not what it yields"
        raise InvalidArgument("pool", rule, type(pool).__name__)
    if callable(pool) and not hasattr(pool, "__array__"):
        return Yielded(pool)
    return None
