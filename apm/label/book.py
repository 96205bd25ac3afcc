"""The label file: a CSV that anybody can read and write, and that loses nothing we acknowledged.

It has a column `row` (numbers from 0, or the name and values of a column of the pool) and a column
`label`. We also write `answer` (label, skip, unsure, open) and `check` (letters made of the cells
of the row). For each row the last line counts, and lines of different rows may stand in any order.
A line with neither label nor answer says nothing. `open` takes an answer back.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO, NamedTuple

from apm.label.escaping import as_label, csv_line, with_formula
from apm.label.rows import ANSWER, CHECK, LABEL, ROW, RowNames
from apm.storage import write_whole
from apm.storage.whole import file_path, lock, named
from apm.tables import FileProblem
from apm.tables.decoding import decoded
from apm.tables.delimited import rows_of, separator_of
from apm.tables.problems import shown
from channelcode.errors import ChannelCodeError, InvalidArgument

log = logging.getLogger(__name__)
LABELLED, SKIPPED, UNSURE, OPEN = "label", "skip", "unsure", "open"
PATIENCE = 5.0  # seconds that we wait for another process
WORDS = (LABELLED, SKIPPED, UNSURE, OPEN)


class Answer(NamedTuple):
    """What was said of a row: `kind` is label, skip or unsure; `label` is empty for the others."""

    kind: str
    label: str = ""


class Content(NamedTuple):
    """What a label file holds.

    `answers` by row, in the order of the lines that count; `header`, the names as they stand there;
    `whole` says that we can append to it as it is; `end` is where its last whole line ends, and
    `tail` what is torn after that; `ended` says that the last line has its newline.
    """

    answers: dict[int, Answer]
    header: list[str]
    separator: str = ","
    whole: bool = True
    end: int = 0
    tail: bytes = b""
    ended: bool = True


class LabelFileBusy(ChannelCodeError, RuntimeError):
    """Another process is writing to the label file."""


class LabelFile:
    """The label file of a pool; `read` gives what it says, `append` returns when it is on the disk.

    >>> import pathlib, tempfile
    >>> from apm.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pool = pathlib.Path(folder, "pool.csv")
    ...     _ = pool.write_text("price\\n1\\n2\\n3\\n")
    ...     file = LabelFile(pathlib.Path(folder, "labels.csv"), RowNames(read_table(pool)))
    ...     file.append([(2, Answer("label", "dear")), (0, Answer("skip"))])
    ...     file.read()
    {2: Answer(kind='label', label='dear'), 0: Answer(kind='skip', label='')}
    """

    def __init__(self, path: str | os.PathLike[str], rows: RowNames) -> None:
        self.path = Path(os.path.realpath(file_path(path)))
        self.rows = rows
        self.moved_aside: list[Path] = []
        self._known: tuple[tuple[int, ...], Content] | None = None
        if os.path.lexists(self.path) and not os.path.isfile(self.path):
            raise InvalidArgument("labels", "must be a file", str(path))
        if self.path.suffix.lower() not in (".csv", ".tsv", ".txt", ""):
            rule = "must be a CSV file; what other tools export goes in by apm tell --from"
            raise InvalidArgument("labels", rule, str(path))
        if self.path == rows.table.path.resolve():
            raise InvalidArgument("labels", "must not be the pool itself", str(path))

    def read(self) -> dict[int, Answer]:
        """The answers in force by row, the last given last; none if there is no file yet.

        A last line that was cut short does not count (see `torn`); `append` moves it aside.
        """
        return dict(self.content().answers)

    @property
    def torn(self) -> bytes:
        """The end of the file that is no whole line, as after a crash; empty if all is well."""
        return self.content().tail

    def content(self) -> Content:
        """What the file holds now; read again only if it has changed."""
        with named(self.path):
            try:
                file = open(self.path, "rb")  # noqa: SIM115
            except FileNotFoundError:
                return Content({}, [])
            with file:
                return self._content(file)

    def append(self, answers: Iterable[tuple[int, Answer | None]]) -> None:
        """Write answers by row, None to take one back; they are on the disk when this returns."""
        new = [(row, Answer(OPEN) if answer is None else answer) for row, answer in answers]
        for _, answer in new:
            if answer.kind == LABELLED and as_label(answer.label) != answer.label:
                raise InvalidArgument("label", "must be one line of text", answer.label)
        if not new:
            return
        with named(self.path):
            if not os.path.lexists(self.path):
                with suppress(FileExistsError):  # another process was first
                    write_whole(self.path, self._header().encode(), new=True)
            with self._locked() as file:
                content = self._content(file)
                if content.tail:
                    self._set_aside(file, content)
                    content = content._replace(tail=b"", ended=True)
                if content.whole:
                    self._write(file, content, new)
                    return
                self._rewrite(content)  # still locked: who waits will see that it was replaced
            with self._locked() as file:
                self._write(file, self._content(file), new)

    # Inside -----------------------------------------------------------------------------------

    def _separator(self) -> str:
        return "\t" if self.path.suffix.lower() == ".tsv" else ","

    def _header(self) -> str:
        names = [self.rows.heading, LABEL, ANSWER, CHECK]
        return csv_line(names, separator=self._separator())

    def _locked(self) -> BinaryIO:
        """The file, open and locked; the lock ends with the file or the process."""
        patience = monotonic() + PATIENCE
        while True:
            file = open(self.path, "r+b", buffering=0)  # noqa: SIM115
            try:
                if lock(file.fileno()) and os.path.samestat(
                    os.fstat(file.fileno()), os.stat(self.path)
                ):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()  # another process has it, or it was replaced in between
            if monotonic() > patience:
                raise LabelFileBusy(f"{self.path} is in use by another process: try again")
            sleep(0.01)

    def _content(self, file: BinaryIO) -> Content:
        before = _signature(file)
        if self._known is not None and self._known[0] == before:
            return self._known[1]
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InvalidArgument("labels", "must be a file", str(self.path))
        file.seek(0)
        content = self._parsed(file.read())
        self._known = before, content
        return content

    def _write(self, file: BinaryIO, content: Content, new: list[tuple[int, Answer]]) -> None:
        """Append lines, flush them to the disk, and know them; after a failure none is left."""
        lines = b"" if content.ended else b"\n"
        for row, answer in new:
            told = {
                self.rows.heading: self.rows.name(row), LABEL: answer.label,
                ANSWER: answer.kind, CHECK: self.rows.check(row),
            }  # fmt: skip
            cells = [told.get(_plain(name, self.rows), "") for name in content.header]
            lines += csv_line(cells, separator=content.separator).encode()
        try:
            file.seek(content.end)
            written = 0
            while written < len(lines):
                written += file.write(lines[written:]) or 0
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(content.end)
            os.fsync(file.fileno())
            raise
        answers = dict(content.answers)
        for row, answer in new:
            _take(answers, row, answer)
        log.info("%s: %d answers written", self.path, len(new))
        after = content._replace(answers=answers, end=content.end + len(lines), ended=True)
        self._known = _signature(file), after

    def _set_aside(self, file: BinaryIO, content: Content) -> None:
        number = 1
        while os.path.lexists(side := self.path.with_name(f"{self.path.name}.tail-{number}")):
            number += 1
        write_whole(side, content.tail)
        log.warning("the last line of %s was cut short and is now in %s", self.path, side)
        file.truncate(content.end)
        os.fsync(file.fileno())
        self.moved_aside.append(side)

    def _rewrite(self, content: Content) -> None:
        """The same lines in UTF-8, with the columns that we need, in one step."""
        if not content.header:
            write_whole(self.path, self._header().encode())
            return
        text = decoded(self.path.read_bytes(), self.path).text
        out, first = [], True
        for record, _ in rows_of(text, self.path, content.separator):
            if not any(cell.strip() for cell in record):
                continue
            names = [name for name in (ANSWER, CHECK) if name not in _names(content, self.rows)]
            cells = [*record, *(names if first else [""] * len(names))]
            out.append(csv_line(cells, separator=content.separator, as_they_are=True))
            first = False
        write_whole(self.path, "".join(out).encode())

    def _parsed(self, raw: bytes) -> Content:
        text = decoded(raw, self.path)
        utf8 = text.encoding == "utf-8"
        body, end, tail = raw, len(raw), b""
        if utf8 and not raw.endswith(b"\n"):
            end = raw.rfind(b"\n") + 1
            body, tail = raw[:end], raw[end:]
        separator = self._separator() if self._separator() == "\t" else separator_of(text.text)
        whole_text = body.decode() if utf8 else text.text
        records = [each for each in rows_of(whole_text, self.path, separator) if any(each[0])]
        ended = True
        if not records and tail:  # a header alone, or lines that end as they did on old machines
            records = [each for each in rows_of(text.text, self.path, separator) if any(each[0])]
            tail, end, ended = b"", len(raw), False
        if not records:
            return Content({}, [], whole=False)
        (first, line), *others = records
        header = [name.strip() for name in first]
        names = [_plain(name, self.rows) for name in header]
        self._check_header(names, header, line)
        answers: dict[int, Answer] = {}
        for record, line in others:
            self._read_line(record, names, line, answers)
        whole = utf8 and ANSWER in names and CHECK in names
        if tail:
            last = self._last_line(tail, separator, names, line + 1, answers)
            if last:
                ended, end, tail = False, len(raw), b""
        return Content(answers, header, separator, whole, end, tail, ended)

    def _check_header(self, names: list[str], header: list[str], line: int) -> None:
        heading = self.rows.heading
        for name in (heading, LABEL):
            if name not in names:
                hint = ""
                if name == heading and self.rows.column is None:
                    hint = "; if rows are known by another column, name it with --id"
                rule = f"must have a column {name!r}, has {', '.join(map(shown, header))}{hint}"
                raise FileProblem(self.path, rule, line=line)
        for name in (heading, LABEL, ANSWER, CHECK):
            if names.count(name) > 1:
                raise FileProblem(self.path, "is there twice", line=line, column=name)

    def _last_line(
        self, tail: bytes, separator: str, names: list[str], line: int, answers: dict[int, Answer]
    ) -> bool:
        """Take in a last line without its end, if it is whole; False if it may be torn.

        Our own lines end with a word or letters that are checked. A file of others, without the
        column `answer`, is taken as it stands.
        """
        kept = dict(answers)
        try:
            ((record, _),) = rows_of(tail.decode(), self.path, separator, first_line=line)
            if ANSWER in names and names[-1] in (LABEL, self.rows.heading):
                return False  # its last cell may have been longer
            self._read_line(record, names, line, kept)
        except (FileProblem, UnicodeDecodeError, ValueError):
            if ANSWER not in names:
                raise
            return False
        answers.clear()
        answers.update(kept)
        return True

    def _read_line(
        self, record: list[str], names: list[str], line: int, answers: dict[int, Answer]
    ) -> None:
        if len(record) != len(names):
            rule = f"must have {len(names)} cells like the first line, has {len(record)}"
            raise FileProblem(self.path, rule, line=line)
        cells = dict(zip(names, record))
        name, word = cells[self.rows.heading], cells.get(ANSWER, "").strip().lower()
        given = with_formula(cells[LABEL].strip())
        if not given and not word:
            return  # nothing was said
        row = self.rows.row(with_formula(name.strip()))
        if row is None:
            raise FileProblem(self.path, f"{self.rows.rule()}, got {shown(name)}",
                              line=line, column=self.rows.heading)  # fmt: skip
        if word not in ("", *WORDS):
            rule = f"must be one of {', '.join(WORDS)} or empty, got {shown(word)}"
            raise FileProblem(self.path, rule, line=line, column=ANSWER)
        is_label = word in ("", LABELLED)
        label = as_label(given) if is_label else ""
        if label is None or (not is_label and given):
            rule = f"must be one line of text with the answer 'label', got {shown(given)}"
            if not is_label:
                rule = f"must be empty where the answer is {word!r}, got {shown(given)}"
            raise FileProblem(self.path, rule, line=line, column=LABEL)
        check = cells.get(CHECK, "").strip()
        if check and check != self.rows.check(row):
            rule = (
                f"row {name.strip()} of {self.rows.table.path} is not the row that this line was "
                "written for: the pool has changed (empty the column to take the line as it is)"
            )
            raise FileProblem(self.path, rule, line=line, column=CHECK)
        _take(answers, row, Answer(word or LABELLED, label))


def _take(answers: dict[int, Answer], row: int, answer: Answer) -> None:
    """Let an answer count: it is now the last."""
    answers.pop(row, None)
    if answer.kind != OPEN:
        answers[row] = answer


def _plain(name: str, rows: RowNames) -> str:
    """A heading as we call it: our own names in any case, others as they are."""
    stripped = name.strip()
    if stripped == rows.heading:
        return rows.heading
    lower = stripped.lower()
    own = (LABEL, ANSWER, CHECK) if rows.column is not None else (ROW, LABEL, ANSWER, CHECK)
    return lower if lower in own else stripped


def _names(content: Content, rows: RowNames) -> list[str]:
    return [_plain(name, rows) for name in content.header]


def _signature(file: BinaryIO) -> tuple[int, ...]:
    held = os.fstat(file.fileno())
    return (held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns, held.st_ctime_ns)
