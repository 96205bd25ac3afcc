"""Tables that are no text: NumPy's `.npy` and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from apm.storage.whole import named
from apm.tables.decoding import read_bytes
from apm.tables.problems import FileProblem
from apm.tables.table import Column, Table, column_of, named_columns
from channelcode.errors import MissingExtra


def _no_line(row: int) -> None:
    return None


def read_npy(path: Path) -> Table:
    """The table of a `.npy` file: a matrix `(n, d)` of finite numbers, columns named 0, 1, ..."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise FileProblem(path, "is not a .npy file")
    try:
        with named(path):
            found = np.load(path, allow_pickle=False, mmap_mode="r")
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise FileProblem(path, f"is not a .npy file of plain numbers ({error})") from None
    if found.dtype.kind not in "buif" or found.ndim != 2 or 0 in found.shape:
        rule = f"must hold a matrix of real numbers, has shape {found.shape} of {found.dtype}"
        raise FileProblem(path, rule)
    kept = found.dtype in (np.float32, np.float64)
    matrix = np.asarray(found, dtype=found.dtype if kept else np.float64)
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.unravel_index(int(np.argmin(finite)), matrix.shape)
        rule = f"must be finite, got {matrix[row, column]} in row {int(row)}"
        raise FileProblem(path, rule, column=str(int(column)))
    columns = tuple(
        Column(str(place), numbers=matrix[:, place]) for place in range(matrix.shape[1])
    )
    return Table(path, columns, _no_line, matrix=matrix)


def read_parquet(path: Path) -> Table:
    """The table of a Parquet file; needs pyarrow (extra `parquet`)."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    content = read_bytes(path)
    try:
        found = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FileProblem(path, f"is not Parquet ({error})") from None
    if found.num_rows == 0 or found.num_columns == 0:
        raise FileProblem(path, "has no rows")
    names = named_columns([str(name) for name in found.column_names], path)
    columns = [_column(name, found.column(place), path) for place, name in enumerate(names)]
    return Table(path, tuple(columns), _no_line)


def _column(name: str, array: Any, path: Path) -> Column:
    import pyarrow.types as types

    kind = array.type
    if types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    if not number and not text:
        raise FileProblem(path, f"must hold numbers or text, is {kind}", column=name)
    return column_of(name, array.to_pylist(), path, _no_line)
