"""What a column is: numbers, categories, text, or nothing that a learner could use."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

MISSING = frozenset(
    ("", "na", "n/a", "nan", "null", "none", "?", "#n/a", "-nan", "<na>")
)  # in any case
MOST_CATEGORIES = 50
FEWEST_WORDS = 3.0  # on average, for a column to count as text of its own accord
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+")
# what numbers a table without names uses as a name: they say which row it is, not what it is like
NAMES_OF_ROWS = frozenset(("id", "row", "index", "unnamed: 0", ""))
NAMES_OF_LABELS = frozenset(("label", "labels", "answer"))


def is_missing(value: Any) -> bool:
    """Whether a cell says that there is nothing: empty, NA, N/A, NaN, null, None, ? (any case).

    >>> [is_missing(cell) for cell in ("", " n/a ", "0", "none", None, float("nan"))]
    [True, True, False, True, True, True]
    """
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in MISSING


def as_number(value: Any, *, comma: bool = False) -> float | None:
    """The number in a cell, NaN if it is missing, None if it is something else.

    Numbers are written as in Python, without underscores; with `comma` also as `1,5`.

    >>> as_number(" 1.5e3 "), as_number("1_000"), as_number("1,5", comma=True), as_number("")
    (1500.0, None, 1.5, nan)
    """
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return float(text)
        if comma and _COMMA.fullmatch(text):
            return float(text.replace(",", "."))
        if text.lower().lstrip("+-") in ("inf", "infinity"):
            return math.inf
        return math.nan if is_missing(value) else None
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float | np.number):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return None


def numbers_in(cells: list[Any], *, comma: bool = False) -> np.ndarray | None:
    """The cells as numbers with NaN for what is missing; None if one is no number, or all miss.

    >>> numbers_in(["1", "", "2.5"])
    array([1. , nan, 2.5])
    """
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        number = as_number(cell, comma=comma)
        if number is None:
            return None
        found[place] = number
    return None if np.isnan(found).all() else found


def kind_of(cells: list[str | None]) -> str:
    """What a column that is not of numbers is: "category", "text" or "aside".

    A category has at most 50 values, each twice on average. Text has three words on average. All
    else (names, paths, numbers of orders) tells rows apart and is left aside.

    >>> kind_of(["red", "blue"] * 4), kind_of(["a long text", "another long text"])
    ('category', 'text')
    >>> kind_of(["a.png", "b.png", "c.png"])
    'aside'
    """
    told = [cell for cell in cells if cell is not None]
    distinct = len(set(told))
    if 0 < distinct <= MOST_CATEGORIES and 2 * distinct <= len(told):
        return "category"
    if told and sum(len(cell.split()) for cell in told) >= FEWEST_WORDS * len(told):
        return "text"
    return "aside"
