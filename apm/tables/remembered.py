"""Large tables of numbers, kept as the machine reads them: parsing text takes seconds, this none.

A kept table is used only for the same file: its place, inode, size, and times of content and of
change, to the nanosecond, are part of the name. It is a plain array and its checksum, in a folder
that belongs to the user and that nobody else can write; damage counts as absence. A file that was
changed within the last two seconds is not kept, because a clock may not tell two changes apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from apm.storage import replacing

VERSION = 2
SMALLEST = 1 << 20  # bytes: what is smaller is read at once
KEPT = 3  # tables
LONGEST_HEAD = 1 << 24  # bytes of names
SETTLED = 2_000_000_000  # nanoseconds


def folder() -> Path:
    """Where tables are kept: `channelcode/tables` in `XDG_CACHE_HOME`, by default `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "channelcode" / "tables"


def recalled(path: Path, *about: object) -> tuple[list[str], np.ndarray] | None:
    """Names and numbers of the table in `path`, if they were kept; `about` is how it was read."""
    try:
        status = os.stat(path)
        if status.st_size < SMALLEST or not _private(folder()):
            return None
        place = folder() / _name(path, status, about)
        if not _private(place):
            return None
        with open(place, "rb") as file:
            known = json.loads(file.readline(LONGEST_HEAD))
            body = np.fromfile(file, dtype="<f8")
        if hashlib.sha256(body.data).hexdigest() != known["check"]:
            return None
        matrix = body.reshape(known["shape"])
        names = known["names"]
        if len(names) != matrix.shape[1]:
            return None
        matrix.setflags(write=False)
        os.utime(place)  # the least used goes first
        return names, matrix
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def remember(path: Path, *rest: object) -> None:
    """Keep names and numbers (the last two of `rest`) for the next run, if that is possible."""
    *about, names, matrix = rest
    with suppress(OSError, ValueError):
        status = os.stat(path)
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        if status.st_size < SMALLEST or newest > time.time_ns() - SETTLED:
            return
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _private(folder()):
            return
        body = np.ascontiguousarray(matrix, dtype="<f8")  # type: ignore[call-overload]
        known = {
            "names": names,
            "shape": list(body.shape),
            "check": hashlib.sha256(body.data.cast("B")).hexdigest(),
        }
        place = folder() / _name(path, status, tuple(about))
        with replacing(place) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps(known).encode() + b"\n")
            file.write(body.data.cast("B"))
        for old in sorted(folder().glob("*.table"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)


def _name(path: Path, status: os.stat_result, about: tuple[object, ...]) -> str:
    same = (
        VERSION, os.path.realpath(path), status.st_dev, status.st_ino, status.st_size,
        status.st_mtime_ns, status.st_ctime_ns, *about,
    )  # fmt: skip
    return hashlib.sha256(repr(same).encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".table"


def _private(place: Path) -> bool:
    """Whether a file or folder belongs to the user, and nobody else can write it."""
    status = os.stat(place)
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
