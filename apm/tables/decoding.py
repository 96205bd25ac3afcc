"""Bytes of a file as text: byte order marks, UTF-8, and what spreadsheets write instead."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path
from typing import NamedTuple

from apm.storage.whole import named
from apm.tables.problems import FileProblem
from channelcode.errors import InvalidArgument

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
OFFICE = "cp1252"  # what spreadsheets in western languages write when they do not write UTF-8


class Text(NamedTuple):
    """The text of a file, its encoding, and a note if that was a guess."""

    text: str
    encoding: str
    note: str | None = None


def read_bytes(path: Path) -> bytes:
    """The content of a regular file; pipes and devices, which might never end, are refused."""
    with named(path):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InvalidArgument("path", "must be a file", str(path))
        return path.read_bytes()


def decoded(content: bytes, path: Path, encoding: str | None = None) -> Text:
    """Text by the encoding given, else by its byte order mark, else UTF-8, else `cp1252`.

    The last is a guess and has a note. Bytes that are no text in the encoding are an error that
    names the line.

    >>> decoded(b"caf\\xc3\\xa9", Path("a.csv")), decoded(b"caf\\xe9", Path("a.csv")).text
    (Text(text='café', encoding='utf-8', note=None), 'café')
    """
    name = encoding
    if name is not None:
        try:
            codecs.lookup(name)
        except (LookupError, ValueError):
            raise InvalidArgument("encoding", "must be one that Python knows", name) from None
    else:
        name = next((each for mark, each in _MARKS if content.startswith(mark)), None)
    try:
        text = Text(content.decode(name or "utf-8"), name or "utf-8")
    except (UnicodeError, ValueError, LookupError, AssertionError) as error:
        line = _line(content, error)
        if name is not None:
            raise FileProblem(path, f"is not text in {name} ({_why(error)})", line=line) from None
        try:
            text = Text(
                content.decode(OFFICE),
                OFFICE,
                f"{path}, line {line}: not UTF-8, read as {OFFICE}; --encoding says otherwise",
            )
        except UnicodeDecodeError as second:
            raise FileProblem(
                path,
                f"is neither UTF-8 nor {OFFICE}: name its encoding",
                line=_line(content, second),
            ) from None
    if not isinstance(text.text, str):  # a codec such as "hex" that gives bytes
        raise InvalidArgument("encoding", "must be an encoding of text", name)
    return text


def _line(content: bytes, error: Exception) -> int | None:
    start = getattr(error, "start", None)
    return None if start is None else content.count(b"\n", 0, start) + 1


def _why(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error) or type(error).__name__
