"""Suggest the nearest known name for one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_name(name: str, known: Iterable[str]) -> str:
    """A clause that suggests the nearest known name, or lists them all.

    >>> nearest_name("letterPD", ["letterDP", "cross"])
    ' (did you mean letterDP?)'
    >>> nearest_name("zzz", ["letterDP", "cross"])
    ' (one of letterDP, cross)'
    """
    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    close = get_close_matches(str(name).casefold(), list(folded), n=1, cutoff=0.6)
    if close:
        return f" (did you mean {folded[close[0]]}?)"
    return f" (one of {', '.join(names)})"
