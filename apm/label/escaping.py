"""Text made harmless: formulas in spreadsheets, control characters on terminals, labels on a line.

A spreadsheet runs a cell that begins with =, +, - or @ (or a tab or a carriage return), so such a
cell gets an apostrophe in front, unless it is a number; reading takes one away again.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from apm.tables.kinds import as_number

LONGEST_LABEL = 500
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")
# C0 and C1 controls and the delete character, but not the ends of lines and the tab
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def without_formula(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it.

    >>> [without_formula(cell) for cell in ("=cmd()", "-1.5", "+x", "'=a", "fine")]
    ["'=cmd()", '-1.5', "'+x", "''=a", 'fine']
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell


def with_formula(cell: str) -> str:
    """What `without_formula` was given.

    >>> [with_formula(cell) for cell in ("'=cmd()", "-1.5", "''=a", "'quoted'")]
    ['=cmd()', '-1.5', "'=a", "'quoted'"]
    """
    return cell[1:] if _QUOTED.match(cell) else cell


def spelled_out(text: str) -> str:
    """The text with control characters spelled out, so that no terminal obeys them.

    Marks that turn the direction of writing are spelled out too.

    >>> spelled_out("\\x1b[31mred\\x07") == r"\\x1b[31mred\\x07"
    True
    """
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def one_line(text: str) -> str:
    """The text without control characters and without ends of lines.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    return spelled_out(text).replace("\n", "\\n").replace("\t", "\\t")


def csv_line(cells: Iterable[Any], *, separator: str = ",", as_they_are: bool = False) -> str:
    """One record of a CSV file that spreadsheets and terminals show and do not run.

    `as_they_are` is for cells that came from such a file.

    >>> print(csv_line([3, "=cmd()", "a, b", None]), end="")
    3,'=cmd(),"a, b",
    """
    out = io.StringIO()
    plain = [_text(cell) for cell in cells]
    made = plain if as_they_are else [without_formula(spelled_out(cell)) for cell in plain]
    csv.writer(out, delimiter=separator, lineterminator="\n").writerow(made)
    return out.getvalue()


def as_label(text: str) -> str | None:
    """A label as it is kept: blanks around it removed, accents composed; None if it is none.

    >>> as_label("  spam "), as_label("a\\nb")
    ('spam', None)
    """
    plain = unicodedata.normalize("NFC", text).strip()
    if not plain or len(plain) > LONGEST_LABEL or _CONTROL.search(plain):
        return None
    return None if "\n" in plain or "\t" in plain or not _is_text(plain) else plain


def _is_text(text: str) -> bool:
    """Whether the text can be written as UTF-8: halves of surrogate pairs cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    text = cell if isinstance(cell, str) else repr(cell)
    return text.encode("utf-8", "backslashreplace").decode()


def _is_number(cell: str) -> bool:
    number = as_number(cell)
    return number is not None and number == number
