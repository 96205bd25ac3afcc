"""A table: named columns of numbers or text, and rows that can be shown and told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from apm.tables.kinds import is_missing, kind_of, numbers_in
from apm.tables.problems import FileProblem, shown
from channelcode.errors import InvalidArgument

LETTERS = "abcdefghijklmnop"  # sixteen: a digest that no spreadsheet takes for a number
DIGEST = 8  # letters, 32 bits


@dataclass(frozen=True, eq=False)
class Column:
    """One column: `numbers` `(n,)` with NaN where there is none, or else `cells`, text or None."""

    name: str
    numbers: np.ndarray | None = None
    cells: list[str | None] | None = field(default=None, repr=False)

    @cached_property
    def kind(self) -> str:
        """ "number", "category", "text" or "aside" (see `apm.tables.kinds.kind_of`)."""
        return "number" if self.cells is None else kind_of(self.cells)

    def value(self, row: int) -> Any:
        """The cell as an integer, a float, text or None, as JSON would hold it."""
        if self.cells is not None:
            return self.cells[row]
        number = float(self.numbers[row])  # type: ignore[index]
        if np.isnan(number):
            return None
        return int(number) if number.is_integer() and abs(number) < 2**53 else number

    def text(self, row: int) -> str:
        """The cell as text, empty if it is missing."""
        value = self.value(row)
        return "" if value is None else value if isinstance(value, str) else repr(value)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, read from `path`.

    `line` gives the line of the file that a row (from 0) stands in, None where files have no lines.
    `matrix` `(n, d)` holds all of the numbers where every column is one. `notes` are remarks for
    the user, such as a guessed encoding.
    """

    path: Path
    columns: tuple[Column, ...]
    line: Callable[[int], int | None] = field(repr=False)
    matrix: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        first = self.columns[0]
        return len(first.numbers if first.cells is None else first.cells)  # type: ignore[arg-type]

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    def column(self, name: str, argument: str) -> Column:
        """The column of that name; `argument` is what the error calls it."""
        for column in self.columns:
            if column.name == name:
                return column
        from difflib import get_close_matches

        near = get_close_matches(name, self.names, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        listed = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
        rule = f"must be a column of {self.path}{hint}; it has {listed}"
        raise InvalidArgument(argument, rule, name)

    def row(self, row: int) -> dict[str, Any]:
        """The cells of a row by name (see `Column.value`)."""
        return {column.name: column.value(row) for column in self.columns}

    def digest(self, row: int) -> str:
        """Eight letters that change when a cell of the row does; columns may be renamed."""
        cells = [column.value(row) for column in self.columns]
        joined = "\x1f".join(
            "" if cell is None else f"{type(cell).__name__[0]}{cell!r}" for cell in cells
        )
        found = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()
        return "".join(LETTERS[byte >> 4] for byte in found[:DIGEST])


def column_of(
    name: str,
    cells: list[Any],
    path: Path,
    line: Callable[[int], int | None],
    *,
    comma: bool = False,
) -> Column:
    """The column of these cells, typed: all numbers or missing, or else text.

    An infinite number is refused: nobody means it, and no average survives it.
    """
    numbers = numbers_in(cells, comma=comma)
    if numbers is not None:
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            rule = f"must be a finite number, got {shown(cells[row])}"
            raise FileProblem(path, rule, line=line(row), column=name)
        return Column(name, numbers=numbers)
    return Column(name, cells=[None if is_missing(cell) else _as_text(cell) for cell in cells])


def named_columns(given: list[str], path: Path, *, line: int | None = None) -> list[str]:
    """Names without blanks around them, each once; a nameless column is called by its number."""
    names: list[str] = []
    for place, name in enumerate(given, start=1):
        plain = name.strip() or ("" if place == 1 else f"column {place}")
        if plain in names:
            raise FileProblem(path, "is there twice: columns need names of their own",
                              line=line, column=plain)  # fmt: skip
        names.append(plain)
    return names


def _as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell if isinstance(cell, str) else repr(cell)
