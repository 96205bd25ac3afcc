"""Tables as plain CSV files, written whole; a name that ends in .gz is compressed."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.engine.store import write_whole
from channelcode.errors import InvalidArgument

Row = Sequence[Any]
_FORMULA = ("=", "+", "-", "@", "\t", "'")  # how a formula begins, and the mark against it


def write_csv(path: Path, header: Row, rows: Iterable[Row]) -> Path:
    """Write a table whole; floats are written so that reading them gives the same number.

    Text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    data = text.getvalue().encode()
    # no time in the header: the same table is the same file
    write_whole(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a file of `write_csv`, by the names of its columns."""
    if not path.is_file():
        raise InvalidArgument("folder", f"must hold {path.name}", str(path.parent))
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidArgument("folder", f"must hold a whole {path.name}", str(path)) from error
    with io.StringIO(data.decode("utf-8"), newline="") as file:
        header, *rows = [[_plain(cell) for cell in row] for row in csv.reader(file)] or [[]]
    return [dict(zip(header, row)) for row in rows]


def _cell(value: Any) -> Any:
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, str) and "\r" in value:
        raise InvalidArgument("cell", "must have no carriage return", value)
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return "'" + value
    return value


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
