"""How a label file speaks of rows: by number from 0, or by the values of a column."""

from __future__ import annotations

import re

from apm.tables import FileProblem, Table
from apm.tables.problems import shown
from channelcode.errors import InvalidArgument

ROW, LABEL, ANSWER, CHECK = "row", "label", "answer", "check"
ROW_ID = "row_id"  # what tools are told to call a row that has a name
_NUMBER = re.compile(r"(\d{1,15})(\.0*)?")


class RowNames:
    """The name of every row of a table, and back.

    Without `column` a row is called by its number from 0, the header not counted, and `check` gives
    letters that betray a table whose rows have moved. With `column`, a column whose values are all
    there and all different, a row is called by its value.
    """

    def __init__(self, table: Table, column: str | None = None) -> None:
        self.table = table
        self.column = column
        self._rows: dict[str, int] | None = None
        if column is None:
            return
        if column.strip().lower() in (LABEL, ANSWER, CHECK):
            raise InvalidArgument("id", "must not be called label, answer or check", column)
        found = table.column(column, "id")
        self._rows = {}
        for row in range(len(table)):
            name = found.text(row).strip()
            if not name:
                raise FileProblem(table.path, "must not be missing: rows are known by it",
                                  line=table.line(row), column=column)  # fmt: skip
            if name in self._rows:
                other = table.line(self._rows[name])
                rule = f"must tell rows apart: {shown(name)} is also in line {other}"
                raise FileProblem(table.path, rule, line=table.line(row), column=column)
            self._rows[name] = row

    @property
    def heading(self) -> str:
        """The name of the column of a label file that says which row is meant."""
        return ROW if self.column is None else self.column

    def name(self, row: int) -> str:
        """What a row is called."""
        if self.column is None:
            return str(row)
        return self.table.column(self.column, "id").text(row).strip()

    def row(self, name: str) -> int | None:
        """The row of that name; None if there is none."""
        plain = name.strip()
        if self._rows is not None:
            return self._rows.get(plain)
        found = _NUMBER.fullmatch(plain)  # a spreadsheet may have made 3.0 of 3
        if found is None or int(found[1]) >= len(self.table):
            return None
        return int(found[1])

    def rule(self) -> str:
        """What a name must be."""
        if self.column is None:
            return f"must be a row number in 0..{len(self.table) - 1}"
        return f"must be a value of column {shown(self.column)} in {self.table.path}"

    def check(self, row: int) -> str:
        """Letters that change with the cells of a row; empty where rows have names of their own."""
        return self.table.digest(row) if self.column is None else ""
