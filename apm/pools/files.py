"""Rows in files: `.npy` and memory maps, Parquet, Zarr.

Raw files are read, not mapped: pages of a map would count as memory of ours.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from apm.pools.blocks import Blocks, Sliced
from channelcode.errors import InvalidArgument, MissingExtra

BLOCK_BYTES = 1 << 21
SHELF = 4  # blocks of a pass that may be used again


@contextmanager
def _there(path: Path) -> Iterator[None]:
    """Make a file that is gone, or is no file, an error of the pool."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidArgument(
            "pool", f"must be a file that can be read ({reason})", str(path)
        ) from error


class File(Blocks):
    """A source whose rows are in one file or folder, watched by size, number and time of change."""

    _end: int | None = None  # the bytes of a file whose last ones are rows

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).absolute()

    @property
    def path(self) -> str:
        return str(self._path)

    def _ends_at(self, end: int) -> None:
        """Say where the rows end: a file that goes on behind them already may grow."""
        if self._path.is_file() and self._path.stat().st_size == end:
            self._end = end

    def growth(self) -> str | None:
        with _there(self._path):
            size = os.stat(self._path).st_size
        if self._end is None or size <= self._end:
            return None
        return f"its file has grown from {self._end} to {size} bytes"

    def state(self) -> tuple[int, ...]:
        with _there(self._path):
            now = os.stat(self._path)
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


class _Shelf:
    """Memory for blocks that come one after the other: what nobody holds any more is used again.

    Fresh memory for each block would be paged in anew, which takes longer than reading.
    """

    def __init__(self) -> None:
        self._held: list[Any] = []

    def free(self, size: int) -> Any:
        """An array of so many bytes that nobody else holds."""
        for place in range(len(self._held)):
            # views of an array refer to it: the list and this call are all that is left
            if sys.getrefcount(self._held[place]) == 2 and len(self._held[place]) == size:
                return self._held[place]
        found = np.empty(size, dtype=np.uint8)
        self._held = [*self._held[-(SHELF - 1) :], found]
        return found


class RawFile(File):
    """Rows of plain numbers, one after the other, from some byte of a file on.

    `RawFile.npy(path)` reads where they are from the file itself. With `fortran` it is the columns
    that stand one after the other, and a block is read by a piece of each.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pool.npy")
    ...     np.save(path, np.arange(6.0).reshape(3, 2))
    ...     RawFile.npy(path).read(1, 3).tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """

    seekable = True

    def __init__(
        self, path: str | os.PathLike[str], shape: tuple[int, int], dtype: Any, *,
        offset: int = 0, fortran: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(path)
        self._shape, self._dtype, self._offset = shape, np.dtype(dtype), offset
        self._fortran = fortran
        self._ends_at(offset + shape[0] * shape[1] * self._dtype.itemsize)

    @classmethod
    def npy(cls, path: str | os.PathLike[str]) -> Blocks:
        """The rows of a `.npy` file."""
        place = Path(path).absolute()
        with _there(place), open(place, "rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, fortran, dtype = read(file)
            except ValueError as error:
                raise InvalidArgument(
                    "pool", f"must be a .npy file ({error})", str(place)
                ) from None
            offset = file.tell()
        if len(shape) != 2:
            raise InvalidArgument("pool", "must have two axes", f"shape {shape} in {place}")
        if dtype.kind not in "buif":
            raise InvalidArgument("pool", "must hold real numbers", f"dtype {dtype} in {place}")
        return cls(place, shape, dtype, offset=offset, fortran=fortran and 1 not in shape)

    @classmethod
    def mapped(cls, rows: np.memmap[Any, Any]) -> Blocks:
        """The rows of a memory map, read from its file; a private or strided one is sliced."""
        held: Any = rows._mmap  # type: ignore[attr-defined]
        if rows.ndim != 2 or rows.filename is None or not os.path.isfile(rows.filename):
            return Sliced(rows)
        by_rows, by_columns = rows.flags.c_contiguous, rows.flags.f_contiguous
        # what was written to a private map is not in the file
        if not (by_rows or by_columns) or rows.mode == "c":
            return MappedFile(rows)
        begin = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY
        base = np.frombuffer(held, dtype=np.uint8).__array_interface__["data"][0]
        offset = begin + rows.__array_interface__["data"][0] - base
        shape = (int(rows.shape[0]), int(rows.shape[1]))
        return cls(rows.filename, shape, rows.dtype, offset=offset, fortran=not by_rows)

    def blocks(self) -> Iterator[Any]:
        width = max(1, self._shape[1] * self._dtype.itemsize)
        # a power of two: tiles are whole blocks, or blocks whole tiles
        rows = 1 << max(0, (BLOCK_BYTES // width).bit_length() - 1)
        shelf = _Shelf()
        with _there(self._path), open(self._path, "rb", buffering=0) as file:
            for start in range(0, self._shape[0], rows):
                stop = min(start + rows, self._shape[0])
                yield self._from(file, start, stop, shelf.free((stop - start) * width))

    def read(self, start: int, stop: int) -> Any:
        with _there(self._path), open(self._path, "rb", buffering=0) as file:
            stop = max(start, min(stop, self._shape[0]))
            size = (stop - start) * self._shape[1] * self._dtype.itemsize
            return self._from(file, start, stop, np.empty(size, dtype=np.uint8))

    def _from(self, file: Any, start: int, stop: int, into: Any) -> Any:
        """The rows, in the bytes of `into`."""
        rows, columns, size = stop - start, self._shape[1], self._dtype.itemsize
        if not self._fortran:
            self._fill(file, start * columns * size, memoryview(into))
            return into.view(self._dtype).reshape(rows, columns)
        for column in range(columns):
            part = memoryview(into)[column * rows * size : (column + 1) * rows * size]
            self._fill(file, (column * self._shape[0] + start) * size, part)
        return into.view(self._dtype).reshape(columns, rows).T

    def _fill(self, file: Any, place: int, rest: Any) -> None:
        """Read on from byte `place` of the numbers until `rest` is full."""
        file.seek(self._offset + place)
        end = place + len(rest)
        while len(rest):
            got = file.readinto(rest)
            if not got:
                number = (end - len(rest)) // self._dtype.itemsize
                where = f"column {number // self._shape[0]}"
                if not self._fortran:
                    where = f"row {number // self._shape[1]}"
                rule = f"must have its {self._shape[0]} rows: the file ends in {where}"
                raise InvalidArgument("pool", rule, self.path)
            rest = rest[got:]


class MappedFile(File):
    """The rows of a memory map that are not those of its file from some byte on.

    Each pass looks at the size of the file first: to touch a page beyond its end ends the process.
    """

    seekable = True

    def __init__(self, rows: np.memmap[Any, Any]) -> None:
        super().__init__(rows.filename)  # type: ignore[arg-type]
        self._slices = Sliced(rows)
        begin = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY
        self._size = begin + len(rows._mmap)  # type: ignore[attr-defined]
        self._ends_at(self._size)

    def blocks(self) -> Iterator[Any]:
        for block in self._slices.blocks():
            self._require_whole()
            yield block

    def read(self, start: int, stop: int) -> Any:
        self._require_whole()
        return self._slices.read(start, stop)

    def _require_whole(self) -> None:
        with _there(self._path):
            size = os.stat(self._path).st_size
        if size < self._size:
            rule = f"must not become shorter than the {self._size} bytes that are mapped"
            raise InvalidArgument("pool", rule, self.path)


class ParquetFile(File):
    """The rows of a Parquet file, all columns numbers; read by groups of rows.

    Needs pyarrow (extra `parquet`).
    """

    seekable = True
    quick = False  # a group of rows is read as a whole

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        with self._opened() as file:
            about = file.metadata
            sizes = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
            self.columns = [str(name) for name in file.schema_arrow.names]
        self._ends = np.cumsum(sizes, dtype=np.int64)

    def blocks(self) -> Iterator[Any]:
        with self._opened() as file:
            for group in range(file.metadata.num_row_groups):
                yield _numbers(file.read_row_group(group), group)

    def read(self, start: int, stop: int) -> Any:
        first = int(np.searchsorted(self._ends, start, side="right"))
        parts, group = [], first
        begin = int(self._ends[group - 1]) if group else 0
        with self._opened() as file:
            if file.metadata.num_row_groups != len(self._ends):
                raise InvalidArgument("pool", "must not change while it is used", self.path)
            while group < len(self._ends) and (group == first or self._ends[group - 1] < stop):
                parts.append(_numbers(file.read_row_group(group), group))
                group += 1
        return np.concatenate(parts)[start - begin : stop - begin]

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingExtra("pyarrow", "parquet") from None
        try:
            with _there(self._path), pyarrow.parquet.ParquetFile(self.path) as file:
                yield file
        except pyarrow.ArrowException as error:
            rule = f"must be a Parquet file ({error})"
            raise InvalidArgument("pool", rule, self.path) from error


def _numbers(table: Any, group: int) -> Any:
    """The columns of an Arrow table, side by side; a missing value is NaN."""
    columns = []
    for name, column in zip(table.column_names, table.columns):
        found = column.to_numpy(zero_copy_only=False)
        if found.dtype.kind not in "buif":
            rule = f"must hold real numbers in column {name!r}"
            raise InvalidArgument("pool", rule, f"{column.type} in group {group}")
        columns.append(found)
    if not columns:
        raise InvalidArgument("pool", "must have at least one column", "none")
    kinds = {column.dtype for column in columns}
    own = kinds.pop() if len(kinds) == 1 else np.dtype(np.float64)
    kept = own if own == np.float32 else np.dtype(np.float64)
    return np.stack(columns, axis=1, dtype=kept, casting="unsafe")


def zarr_rows(path: str | os.PathLike[str]) -> Blocks:
    """The rows of a Zarr array in a folder; needs zarr."""
    try:
        import zarr  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtra("zarr", "zarr") from None
    place = Path(path).absolute()
    with _there(place):
        return from_zarr(zarr.open_array(str(place), mode="r"), str(place))


def from_zarr(rows: Any, path: str | None = None) -> Blocks:
    """The rows of a Zarr array, by its own chunks."""
    found = Sliced(rows, height=int(rows.chunks[0]), path=path)
    found.quick = False  # a chunk is read as a whole
    return found


def file_rows(path: str | os.PathLike[str]) -> Blocks:
    """The rows of a file that is known by the end of its name."""
    kind = file_kind(path)
    if kind is None:
        rule = "must be a .npy, .parquet or .zarr file if it is a path"
        raise InvalidArgument("pool", rule, os.fspath(path))
    return kind(path)


def file_kind(path: str | os.PathLike[str]) -> Callable[..., Blocks] | None:
    """What reads the file of a path, by the end of its name; None if nothing does."""
    kinds = {".npy": RawFile.npy, ".parquet": ParquetFile, ".pq": ParquetFile, ".zarr": zarr_rows}
    return kinds.get(os.path.splitext(os.fspath(path))[1].lower())
