"""Answers out of files that other tools export: Label Studio, doccano, Prodigy, CSV, JSONL.

What is looked for in each record: the row, under the name that we wrote (`row`, or the column of
`--id`), at the top, in `data` or in `meta`; and the label, in annotations (Label Studio), in
`accept` and `answer` (Prodigy), or under `label` (doccano, CSV, JSONL), where a list of one counts
and an empty one does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from apm.label.book import LABELLED, OPEN, SKIPPED, UNSURE, WORDS, Answer
from apm.label.escaping import as_label, with_formula
from apm.label.rows import ANSWER, CHECK, ROW, ROW_ID, RowNames
from apm.storage.whole import file_path
from apm.tables import FileProblem
from apm.tables.decoding import decoded, read_bytes
from apm.tables.delimited import rows_of, separator_of
from apm.tables.problems import shown
from apm.tables.records import objects_of, parsed

LABEL_KEYS = ("label", "labels", "choice", "cats")
VERDICTS = ("accept", "reject", "ignore")  # of Prodigy


class Taken(NamedTuple):
    """The answers by row, in the order of the file, and how many records said nothing of use."""

    answers: dict[int, Answer]
    unanswered: int
    unusable: int


def take(path: str | Path, rows: RowNames, *, column: str | None = None) -> Taken:
    """The answers in a file that a labelling tool exported; `column` names the label's if need be.

    Two different answers for one row are refused: who is right must be decided before.
    """
    place = file_path(path)
    answers: dict[int, Answer] = {}
    unanswered = unusable = 0
    for record, line in _records(place, rows):
        answer = _answer(record, column, place, line)
        if answer is None:
            unanswered += 1
            continue
        if answer.kind == OPEN:
            unusable += 1
            continue
        row = _row(record, rows, place, line)
        if row in answers and answers[row] != answer:
            both = f"{_words(answers[row])} and {_words(answer)}"
            rule = f"row {rows.name(row)} has two answers, {both}: keep one of them"
            raise FileProblem(place, rule, line=line)
        answers[row] = answer
    return Taken(answers, unanswered, unusable)


def _records(path: Path, rows: RowNames) -> Iterator[tuple[dict[str, Any], int]]:
    """Every record with its line, or with its number in a JSON list."""
    text = decoded(read_bytes(path), path).text
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv", ".txt"):
        separator = "\t" if ending == ".tsv" else separator_of(text)
        names: list[str] | None = None
        for record, line in rows_of(text, path, separator):
            if not any(cell.strip() for cell in record):
                continue
            if names is None:
                names = [name.strip() for name in record]
                if rows.heading not in names and not (rows.column and ROW_ID in names):
                    rule = f"must have a column {rows.heading!r}, has {', '.join(names[:12])}"
                    raise FileProblem(path, rule, line=line)
            elif len(record) != len(names):
                rule = f"must have {len(names)} cells like the first line, has {len(record)}"
                raise FileProblem(path, rule, line=line)
            else:
                yield {key: with_formula(cell) for key, cell in zip(names, record)}, line
        return
    if text.lstrip().startswith("["):
        listed = parsed(text, path)
        for number, record in enumerate(listed, start=1):
            if not isinstance(record, dict):
                raise FileProblem(path, f"item {number} must be an object, got {shown(record)}")
            yield record, number
        return
    yield from objects_of(text, path)


def _row(record: dict[str, Any], rows: RowNames, path: Path, line: int) -> int:
    # `data` and `meta` are ours; at the top a tool may have numbers of its own
    parts = [part for part in (record.get("data"), record.get("meta"), record)
             if isinstance(part, dict)]  # fmt: skip
    keys = (ROW,) if rows.column is None else (ROW_ID, rows.column)
    for key, part in ((key, part) for key in keys for part in parts):
        if key not in part:
            continue
        name, row = part[key], None
        if isinstance(name, str | int | float) and not isinstance(name, bool):
            row = rows.row(str(name))
        if row is None:
            rule = f"{rows.rule()}, got {shown(name)}"
            raise FileProblem(path, rule, line=line, column=key)
        check = part.get(CHECK)
        if isinstance(check, str) and check.strip() and rows.check(row) not in ("", check.strip()):
            rule = f"row {row} of {rows.table.path} is not this row: the pool has changed since"
            raise FileProblem(path, rule, line=line, column=CHECK)
        return row
    rule = f"must say which row it is: there is no {keys[0]!r} at the top, in data or in meta"
    raise FileProblem(path, rule, line=line)


def _answer(record: dict[str, Any], column: str | None, path: Path, line: int) -> Answer | None:
    """What a record says; None if nothing, and `open` for what cannot be used."""
    done = record.get("annotations", record.get("completions"))
    if isinstance(done, list) and column is None:
        return _annotated(done, path, line)
    verdict = record.get(ANSWER)
    if verdict in VERDICTS and column is None:
        return _judged(record, verdict, path, line)
    keys = LABEL_KEYS if column is None else (column,)
    key = next((key for key in keys if key in record), None)
    if key is None:
        if column is not None:
            raise FileProblem(path, "is not there", line=line, column=column)
        return None
    word = verdict.strip().lower() if isinstance(verdict, str) else ""
    if word in WORDS and word != LABELLED:
        return Answer(word)
    return _labelled(record[key], path, line, key)


def _annotated(done: list[Any], path: Path, line: int) -> Answer | None:
    """Label Studio: the choice of every annotation, which must agree; a cancelled one is a skip."""
    found: dict[Answer, None] = {}
    for annotation in done:
        if not isinstance(annotation, dict):
            raise FileProblem(path, "must hold annotations that are objects", line=line)
        if annotation.get("was_cancelled"):
            found.setdefault(Answer(SKIPPED))
            continue
        for region in annotation.get("result") or ():
            value = region.get("value") if isinstance(region, dict) else None
            if isinstance(value, dict) and "choices" in value:
                answer = _labelled(value["choices"], path, line, "choices")
                if answer is not None:
                    found.setdefault(answer)
    told = [answer for answer in found if answer.kind == LABELLED] or list(found)
    if len(told) > 1:
        rule = f"has two labels, {' and '.join(map(_words, told[:2]))}: keep one of them"
        raise FileProblem(path, rule, line=line)
    return told[0] if told else None


def _judged(record: dict[str, Any], verdict: str, path: Path, line: int) -> Answer | None:
    """Prodigy: what was accepted; ignored is a skip, a choice of none is "don't know"."""
    if verdict == "ignore":
        return Answer(SKIPPED)
    if "accept" in record:
        answer = _labelled(record["accept"], path, line, "accept")
        if verdict == "accept":
            return answer or Answer(UNSURE)
        return Answer(UNSURE)
    if verdict == "reject":
        return Answer(OPEN)  # "not this class" is no label
    return _labelled(record.get("label"), path, line, "label")


def _labelled(value: Any, path: Path, line: int, key: str) -> Answer | None:
    """A label as text, a list of one, or the choices of Label Studio; None if it is empty."""
    if isinstance(value, dict) and "choices" in value:
        value = value["choices"]
    if isinstance(value, list):
        if len(value) > 1:
            rule = f"must be one label, got {len(value)}: {shown(value)}"
            raise FileProblem(path, rule, line=line, column=key)
        value = value[0] if value else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, int | float):
        value = repr(value)
    label = as_label(value) if isinstance(value, str) else None
    if label is None:
        rule = f"must be one line of text, got {shown(value)}"
        raise FileProblem(path, rule, line=line, column=key)
    return Answer(LABELLED, label)


def _words(answer: Answer) -> str:
    return shown(answer.label) if answer.kind == LABELLED else answer.kind
