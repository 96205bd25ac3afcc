"""The matrix that a learner sees: numbers standardised, categories one-hot, texts as TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from apm.encoders import Standardised
from apm.tables.kinds import MOST_CATEGORIES, NAMES_OF_LABELS, NAMES_OF_ROWS
from apm.tables.table import Column, Table
from apm.tables.words import tf_idf
from channelcode.errors import InvalidArgument

SAID = 5  # columns named in a note


class Features(NamedTuple):
    """The features `(n, p)`, dense or, with texts, sparse; their names; remarks for the user."""

    matrix: Any
    names: list[str]
    notes: tuple[str, ...]


def features_of(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    text: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> Features:
    """The features of a table: of the `columns` named and the `text` ones, or of all that suit.

    - a number becomes (x - mean) / standard deviation over the table; one that is missing becomes
      the mean, 0, and a further column says for which rows that is so;
    - a category (at most 50 values) becomes one column of 0 and 1 for each value; one that is
      missing has none;
    - `text` columns become TF-IDF weights of words, rows of length one; so do columns of text with
      three words on average if nothing was named.

    Unless they are named, columns called id, row, index or label, and columns of text that only
    tell rows apart, are not used, nor is `leave_out`; the notes say so.

    >>> from apm.tables import read_table
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "pool.csv")
    ...     _ = place.write_text("id,price,colour\\n1,1,red\\n2,,blue\\n3,3,red\\n4,2,blue\\n")
    ...     found = features_of(read_table(place))
    >>> found.names
    ['price', 'price is missing', 'colour = blue', 'colour = red']
    >>> found.matrix.round(3).tolist()[0]
    [-1.225, 0.0, 0.0, 1.0]
    """
    if columns is None and not text and table.matrix is not None:
        whole = _all_numbers(table, leave_out)
        if whole is not None:
            return whole
    chosen, aside = _chosen(table, columns, text, leave_out)
    parts: list[Any] = []
    names: list[str] = []
    for column, kind in chosen:
        part, own = _PARTS[kind](column)
        parts.append(part)
        names += own
    notes = _notes(aside)
    if not names:
        rule = f"must leave a column of {table.path} that can be used: name them by --features"
        raise InvalidArgument("features", rule, ", ".join(table.names[:12]))
    return Features(_side_by_side(parts), names, notes)


def standardised(numbers: np.ndarray) -> np.ndarray:
    """One column of numbers `(n,)` with mean zero and unit spread; NaN becomes 0."""
    present = ~np.isnan(numbers)
    known = numbers[present][:, None]
    found = np.zeros(len(numbers))
    found[present] = np.asarray(Standardised.of(known).encode(known))[:, 0]
    return found


def _all_numbers(table: Table, leave_out: Sequence[str]) -> Features | None:
    """The features of a table of numbers at once; None if one of its columns is left out."""
    names = table.names
    barred = NAMES_OF_ROWS | NAMES_OF_LABELS
    if any(name.strip().lower() in barred or name in leave_out for name in names):
        return None
    matrix = table.matrix
    return Features(np.asarray(Standardised.of(matrix).encode(matrix)), names, ())  # type: ignore[arg-type]


def _chosen(
    table: Table, columns: Sequence[str] | None, text: Sequence[str], leave_out: Sequence[str]
) -> tuple[list[tuple[Column, str]], list[str]]:
    """Columns with what is made of them, and the names of those that are not used."""
    texts = [table.column(name, "text") for name in text]
    if columns is not None:
        named = [table.column(name, "features") for name in dict.fromkeys(columns)]
        found = [(column, _forced(column)) for column in named if column.name not in text]
        return found + [(column, "text") for column in texts], []
    found, aside = [], []
    for column in table.columns:
        name = column.name
        plain = name.strip().lower()
        if name in text:
            found.append((column, "text"))
        elif (
            name in leave_out
            or plain in NAMES_OF_LABELS
            or (plain in NAMES_OF_ROWS or column.kind == "aside")
        ):
            aside.append(name)
        else:
            found.append((column, column.kind))
    return found, [name for name in aside if name not in leave_out]


def _forced(column: Column) -> str:
    """What is made of a column that was named: nothing is aside."""
    if column.kind != "aside":
        return column.kind
    told = {cell for cell in column.cells or () if cell is not None}
    return "category" if len(told) <= MOST_CATEGORIES else "text"


def _number(column: Column) -> tuple[np.ndarray, list[str]]:
    numbers = np.asarray(column.numbers, dtype=np.float64)
    part, names, missing = standardised(numbers), [column.name], np.isnan(numbers)
    if missing.any():
        both = np.column_stack((part, missing.astype(np.float64)))
        return both, [*names, f"{column.name} is missing"]
    return part[:, None], names


def _category(column: Column) -> tuple[np.ndarray, list[str]]:
    cells = column.cells or []
    values = sorted({cell for cell in cells if cell is not None})
    place = {value: number for number, value in enumerate(values)}
    part = np.zeros((len(cells), len(values)))
    for row, cell in enumerate(cells):
        if cell is not None:
            part[row, place[cell]] = 1.0
    return part, [f"{column.name} = {value}" for value in values]


def _text(column: Column) -> tuple[Any, list[str]]:
    texts: list[str | None]
    if column.cells is not None:
        texts = column.cells
    else:  # numbers that the user calls text
        texts = [column.text(row) for row in range(len(np.asarray(column.numbers)))]
    rows, words = tf_idf(texts)
    return rows, [f"{column.name}: {word}" for word in words]


_PARTS = {"number": _number, "category": _category, "text": _text}


def _side_by_side(parts: list[Any]) -> Any:
    if all(isinstance(part, np.ndarray) for part in parts):
        return parts[0] if len(parts) == 1 else np.hstack(parts)
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(part) for part in parts], format="csr"))


def _notes(aside: list[str]) -> tuple[str, ...]:
    if not aside:
        return ()
    listed = ", ".join(repr(name) for name in aside[:SAID])
    more = f" and {len(aside) - SAID} more" if len(aside) > SAID else ""
    return (f"not used as features: {listed}{more} (name columns with --features to use them)",)
