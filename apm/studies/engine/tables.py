"""Tables as plain CSV files, written whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.engine.store import write_whole
from channelcode.errors import InvalidArgument

Row = Sequence[Any]


def write_csv(path: Path, header: Row, rows: Iterable[Row]) -> Path:
    """Write a table whole; floats are written so that reading them gives the same number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([float(v) if isinstance(v, np.floating) else v for v in row] for row in rows)
    write_whole(path, text.getvalue().encode())
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a file of `write_csv`, by the names of its columns."""
    if not path.is_file():
        raise InvalidArgument("folder", f"must hold {path.name}", str(path.parent))
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
