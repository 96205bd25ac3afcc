"""An append-only file of events, one line each, on the disk before it counts."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

from apm.storage.whole import file_path, lock, named, write_whole
from channelcode.errors import ChannelCodeError, InvalidArgument, warn_caller

FORMAT = "apm-journal"
SCHEMA = 1
LONGEST = 1 << 24  # bytes of a line: thousands of labels at once


class JournalRepaired(UserWarning):
    """The end of a journal was cut off in the middle of a line, which went into a side file."""


class JournalError(ChannelCodeError, ValueError):
    """A journal file is damaged, of another pool, of a newer schema, or in use."""


class _Held(NamedTuple):
    """What is on the disk: how many events, where the next line begins, and the last checksum."""

    count: int
    end: int
    check: str


class JournalFile:
    """Events as lines of JSON, each with its number and a checksum that covers all lines before it.

    - line 0 is the header: format, schema, the `about` given at creation (a pool's fingerprint);
    - `append` returns when the line is on the disk (`fsync`); if that fails, nothing of it is left;
    - a last line that a crash cut short goes to `<name>.tail-<n>` with a warning, and the file goes
      on before it; a wrong line anywhere else is refused, never skipped;
    - one process holds the file at a time; the lock ends with the process.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with JournalFile(f"{folder}/labels.jsonl", {"pool": "ab12"}) as journal:
    ...         _ = journal.append({"event": "tell", "row": 7, "label": "cat"})
    ...     with JournalFile(f"{folder}/labels.jsonl", {"pool": "ab12"}) as journal:
    ...         journal.events
    ({'event': 'tell', 'row': 7, 'label': 'cat'},)
    """

    def __init__(
        self, path: str | os.PathLike[str], about: dict[str, Any], *, repair: bool = False
    ) -> None:
        self.path = file_path(path)
        header = json.loads(json.dumps({"format": FORMAT, "schema": SCHEMA, **about}))
        first, check = _line(0, header, "")
        self._held = _Held(0, len(first), check)
        self._events: list[dict[str, Any]] = []  # `count` of them are on the disk
        self._file: BinaryIO | None = None
        if not os.path.lexists(self.path):
            with suppress(FileExistsError):
                write_whole(self.path, first, new=True)
        with named(self.path):
            flags = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            file = os.fdopen(os.open(self.path, flags), "r+b", buffering=0)
            try:
                self._start(file, header, repair)
            except BaseException:
                file.close()
                raise
        self._file = file

    @property
    def events(self) -> tuple[dict[str, Any], ...]:
        """Everything that is on the disk, oldest first."""
        return tuple(self._events[: len(self)])

    def __len__(self) -> int:
        return self._held.count

    def append(self, event: dict[str, Any]) -> int:
        """Write one event and return its number (from 1) once it is on the disk."""
        file, held = self._file, self._held
        if file is None:
            raise JournalError(f"{self.path} is closed: open it again to go on")
        number = held.count + 1
        line, check = _line(number, event, held.check)
        self._events[held.count :] = [json.loads(line)["event"]]
        try:
            with named(self.path):
                if os.fstat(file.fileno()).st_size != held.end:
                    raise JournalError(f"{self.path} was changed by another program: open it again")
                file.seek(held.end)
                written = 0
                while written < len(line):
                    written += file.write(line[written:]) or 0
                os.fsync(file.fileno())
            self._held = _Held(number, held.end + len(line), check)
        except JournalError:
            raise
        except BaseException:
            self._withdraw(file)
            raise
        return number

    def close(self) -> None:
        """Let the file go; another process may open it."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._file is not None else ", closed"
        return f"JournalFile({str(self.path)!r}, {len(self)} events{state})"

    # Inside -----------------------------------------------------------------------------------

    def _start(self, file: BinaryIO, header: dict[str, Any], repair: bool) -> None:
        """Read and check everything; move a torn end aside."""
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InvalidArgument("path", "must be a file", str(self.path))
        if not lock(file.fileno()):
            raise JournalError(f"{self.path} is in use by another process: close that one first")
        first, *lines = file.read().split(b"\n")
        self._check_header(first, header, complete=bool(lines))
        tail = lines.pop()
        for place, text in enumerate(lines, start=1):
            if self._take(text):
                continue
            last = place == len(lines) and not tail
            if not (last and repair):
                raise self._damaged(place + 1, last)
            self._set_aside(file, text + b"\n")
        if tail and self._take(tail):  # all of it but the end of the line
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
            os.fsync(file.fileno())
        elif tail:
            number = len(lines) + 2
            if not repair and _parsed(tail[:-1], number - 1, self._held.check) is not None:
                raise self._damaged(number, True)  # only the end of the line was changed
            self._set_aside(file, tail)

    def _take(self, text: bytes) -> bool:
        """Add the event of a line, if it is right."""
        held = self._held
        read = _parsed(text, held.count + 1, held.check)
        if read is not None:
            self._events.append(read[0])
            self._held = _Held(held.count + 1, held.end + len(text) + 1, read[1])
        return read is not None

    def _damaged(self, line: int, last: bool) -> JournalError:
        way_out = " or open it with repair=True, which moves that line aside" if last else ""
        return JournalError(
            f"{self.path} is damaged in line {line}, where its checksum is wrong: restore it "
            f"from a copy{way_out}"
        )

    def _check_header(self, first: bytes, header: dict[str, Any], *, complete: bool) -> None:
        """Refuse what is no journal, a newer one, a damaged one, and one of another pool."""
        try:
            known = json.loads(first)["event"] if complete else {}
            schema = known["schema"] if known["format"] == FORMAT else None
        except (ValueError, KeyError, TypeError, RecursionError):
            schema = None
        if not isinstance(schema, int) or isinstance(schema, bool):
            raise JournalError(f"{self.path} is not a journal: its first line is no header")
        if schema > SCHEMA:
            raise JournalError(
                f"{self.path} has schema {schema}, newer than {SCHEMA}: it needs a newer apm"
            )
        if _parsed(first, 0, "") is None:
            raise self._damaged(1, False)
        if known != header:
            key = next((key for key in header if known.get(key) != header[key]), "header")
            found, wanted = _shown(known.get(key)), _shown(header.get(key))
            raise JournalError(f"{self.path} belongs to another {key}: {found}, not {wanted}")

    def _set_aside(self, file: BinaryIO, tail: bytes) -> None:
        """Keep the torn end in a file of its own, then cut it off."""
        number = 1
        while os.path.lexists(side := self.path.with_name(f"{self.path.name}.tail-{number}")):
            number += 1
        write_whole(side, tail)
        file.truncate(self._held.end)
        os.fsync(file.fileno())
        warn_caller(
            f"the last line of {self.path} was cut short and is now in {side}: if it was a label, "
            "tell it again",
            JournalRepaired,
        )

    def _withdraw(self, file: BinaryIO) -> None:
        """Take back what may have been written of a line; if that fails too, the file is closed."""
        try:
            file.truncate(self._held.end)
            os.fsync(file.fileno())
        except OSError:  # the next opening repairs it
            self.close()


def header_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the first line of a journal says, unchecked; nothing if there is no such line."""
    if not os.path.isfile(path):
        return {}
    try:
        with open(path, "rb") as file:
            event = json.loads(file.readline(LONGEST))["event"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _line(number: int, event: dict[str, Any], before: str) -> tuple[bytes, str]:
    """The line of an event and its checksum, over the number, the event and all lines before."""
    try:
        body = json.dumps(event, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument("event", f"must be plain JSON ({error})", event) from None
    check = hashlib.sha256(f"{before} {number} {body}".encode()).hexdigest()[:32]
    line = f'{{"number": {number}, "check": "{check}", "event": {body}}}\n'.encode()
    if len(line) > LONGEST:
        raise InvalidArgument(
            "event", f"must be shorter than {LONGEST} bytes", f"{len(line)} bytes"
        )
    return line, check


def _parsed(text: bytes, number: int, before: str) -> tuple[dict[str, Any], str] | None:
    """The event of a line and its checksum; None unless the line is what `_line` writes for it."""
    try:
        event = json.loads(text)["event"]
        line, check = _line(number, event, before)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (event, check) if line == text + b"\n" and isinstance(event, dict) else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 20 else text[:17] + "..."
