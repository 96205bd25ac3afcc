"""What is wrong in a file, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from channelcode.errors import ChannelCodeError

LONGEST = 80


class FileProblem(ChannelCodeError, ValueError):
    """The content of a file breaks a rule; the message names the file, the line and the column.

    >>> raise FileProblem("pool.csv", "must be a number", line=3, column="price")
    Traceback (most recent call last):
        ...
    apm.tables.problems.FileProblem: pool.csv, line 3, column 'price': must be a number
    """

    def __init__(
        self,
        path: str | Path,
        rule: str,
        *,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        self.path, self.rule, self.line, self.column = str(path), rule, line, column
        place = self.path
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {shown(column)}"
        super().__init__(f"{place}: {rule}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.rule, self.line, self.column)


def _again(path: str, rule: str, line: int | None, column: str | None) -> FileProblem:
    return FileProblem(path, rule, line=line, column=column)


def shown(value: object) -> str:
    """A cell for a message: quoted, short, without control characters.

    >>> shown("\\x1b[31mred")
    "'\\\\x1b[31mred'"
    """
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
