"""CSV and TSV: quotes, separators of any land, and a fast way for plain numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from apm.tables.decoding import Text, decoded, read_bytes
from apm.tables.kinds import as_number
from apm.tables.problems import FileProblem
from apm.tables.remembered import recalled, remember
from apm.tables.table import Column, Table, column_of, named_columns

LONGEST_CELL = 1 << 27  # characters
LOOK = 20  # rows that say whether the fast way is worth a try
NUL = "\0"


def read_delimited(
    path: Path, *, encoding: str | None = None, delimiter: str | None = None
) -> Table:
    """The table in a CSV or TSV file; the first line names the columns, blank lines are skipped."""
    held = recalled(path, encoding, delimiter)
    if held is not None:
        return of_matrix(path, *held)
    text = decoded(read_bytes(path), path, encoding)
    separator = separator_of(text.text) if delimiter is None else delimiter
    notes = () if text.note is None else (text.note,)
    plain = _plain_numbers(text, separator)
    if plain is not None:
        names, matrix = plain
        names = header_of(names, path, 1)
        remember(path, encoding, delimiter, names, matrix)
        return of_matrix(path, names, matrix, notes)
    names, cells, lines = _records(text, path, separator)

    def line(row: int) -> int:
        return lines[row]

    columns = zip(*cells) if cells else [()] * len(names)
    typed = tuple(
        column_of(name, list(column), path, line, comma=separator == ";")
        for name, column in zip(names, columns)
    )
    if not cells:
        raise FileProblem(path, "has no rows below its header")
    return Table(path, typed, line, notes=notes)


def of_matrix(
    path: Path, names: list[str], matrix: np.ndarray, notes: tuple[str, ...] = ()
) -> Table:
    """The table of a matrix `(n, d)` of finite numbers; line 1 of its file has the names."""
    columns = tuple(Column(name, numbers=matrix[:, place]) for place, name in enumerate(names))
    return Table(path, columns, lambda row: row + 2, matrix=matrix, notes=notes)


def separator_of(text: str) -> str:
    """The comma, semicolon or tab that the first line has most of, outside quotes.

    >>> separator_of('a;"b,c,d";e'), separator_of("a")
    (';', ',')
    """
    first = text.lstrip("\r\n").partition("\n")[0].partition("\r")[0]
    outside = "".join(first.split('"')[::2])
    return max(",;\t", key=outside.count)


def rows_of(text: str, path: Path, separator: str, *, first_line: int = 1) -> Any:
    """Each record with the line it ends on; what is no CSV is an error that names the line."""
    if NUL in text:
        line = first_line + text.count("\n", 0, text.index(NUL))
        raise FileProblem(path, "must be text: there is a NUL character", line=line)
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        try:
            for record in reader:
                yield record, reader.line_num + first_line - 1
            return
        except csv.Error as error:
            rule = f"is not CSV ({error}): look at its quotes"
            raise FileProblem(path, rule, line=reader.line_num + first_line - 1) from None


def header_of(record: list[str], path: Path, line: int) -> list[str]:
    """The names of the columns; a line of numbers is data, unless they count 0, 1, 2 or 1, 2, 3."""
    cells = [cell.strip() for cell in record]
    told = cells[1:] if cells and not cells[0] else cells  # a nameless first column: an index
    counts = [[str(number + first) for number in range(len(told))] for first in (0, 1)]
    if told and told not in counts and all(_is_plain_number(cell) for cell in told):
        raise FileProblem(path, "must name the columns, holds numbers", line=line)
    return named_columns(record, path, line=line)


def _is_plain_number(cell: str) -> bool:
    number = as_number(cell)
    return number is not None and number == number


def _records(
    text: Text, path: Path, separator: str
) -> tuple[list[str], list[list[str]], list[int]]:
    """The names, the cells and the line of every record."""
    names: list[str] | None = None
    cells: list[list[str]] = []
    lines: list[int] = []
    for record, line in rows_of(text.text, path, separator):
        if not record or (len(record) == 1 and not record[0].strip()):
            continue
        if names is None:
            names = header_of(record, path, line)
        elif len(record) != len(names):
            rule = f"must have {len(names)} cells like the first line, has {len(record)}"
            raise FileProblem(path, rule, line=line)
        else:
            cells.append(record)
            lines.append(line)
    if names is None:
        raise FileProblem(path, "is empty: its first line should name the columns")
    return names, cells, lines


def _plain_numbers(text: Text, separator: str) -> tuple[list[str], np.ndarray] | None:
    """Names and numbers, if every cell is a finite number and every record one line; else None.

    NumPy's parser reads a million numbers in the time that Python's takes for some ten thousand.
    """
    whole = text.text
    if '"' in whole or NUL in whole or "\r" in whole.replace("\r\n", ""):
        return None
    body = io.StringIO(whole.lstrip("\r\n"))
    names = body.readline().strip("\r\n").split(separator)
    start = body.tell()
    first = [line for line in (body.readline() for _ in range(LOOK)) if line.strip()]
    for record in first:
        cells = record.strip("\r\n").split(separator)
        if len(cells) != len(names) or None in map(as_number, cells):
            return None
    if not first:
        return None
    body.seek(start)
    try:
        matrix = np.loadtxt(body, delimiter=separator, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:  # a cell that is none: the slow way says which
        return None
    if matrix.shape[1] != len(names) or len(matrix) == 0 or not np.isfinite(matrix).all():
        return None
    return names, matrix
