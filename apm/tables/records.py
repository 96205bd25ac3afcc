"""JSONL: one object on each line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from apm.tables.decoding import decoded, read_bytes
from apm.tables.problems import FileProblem, shown
from apm.tables.table import Table, column_of, named_columns

_PLAIN = (str, int, float, bool, type(None))


def read_records(path: Path, *, encoding: str | None = None) -> Table:
    """The table in a JSONL file; a column is a key, and missing where an object has none."""
    text = decoded(read_bytes(path), path, encoding)
    found = objects_of(text.text, path)
    if not found:
        raise FileProblem(path, "has no rows: it should hold one JSON object on each line")
    given = list(dict.fromkeys(key for record, _ in found for key in record))
    if not given:
        raise FileProblem(path, "has no columns: its objects are empty", line=found[0][1])
    for record, line in found:
        for key, value in record.items():
            if not isinstance(value, _PLAIN):
                rule = f"must be text, a number, true, false or null, got {shown(value)}"
                raise FileProblem(path, rule, line=line, column=key)

    def line_of(row: int) -> int:
        return found[row][1]

    columns = tuple(
        column_of(name, [record.get(key) for record, _ in found], path, line_of)
        for key, name in zip(given, named_columns(given, path))
    )
    return Table(path, columns, line_of, notes=() if text.note is None else (text.note,))


def objects_of(text: str, path: Path) -> list[tuple[dict[str, Any], int]]:
    """The objects on the lines of a text, with their lines; blank lines are skipped."""
    found = []
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        record = parsed(content, path, line=line)
        if not isinstance(record, dict):
            raise FileProblem(path, f"must be a JSON object, got {shown(record)}", line=line)
        found.append((record, line))
    return found


def parsed(content: str, path: Path, *, line: int | None = None) -> Any:
    """The JSON in a text; what is none is an error that names the line."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        where = (line or 1) + error.lineno - 1
        rule = f"is not JSON ({error.msg} at character {error.colno})"
        raise FileProblem(path, rule, line=where) from None
    except (RecursionError, ValueError) as error:  # nested too deep; a number of too many digits
        rule = f"is not JSON that can be read ({type(error).__name__})"
        raise FileProblem(path, rule, line=line) from None
