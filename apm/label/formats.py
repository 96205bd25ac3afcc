"""Rows written for people, spreadsheets and other labelling tools.

CSV is for spreadsheets: formulas get an apostrophe, control characters are spelled out. JSONL is
exact. Label Studio takes a list of tasks, `{"data": {...}}`; doccano lines of `{"text": ...,
"label": [...]}`, whose other keys it keeps; Prodigy lines of `{"text": ..., "meta": {...}}` with
`options` for its interface `choice`. All of them carry the row, so that what the tools export can
be read again (`apm.label.taken`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apm.label.escaping import csv_line
from apm.label.rows import ANSWER, CHECK, LABEL, ROW, ROW_ID, RowNames
from channelcode.errors import InvalidArgument

FROM, TO = "label", "item"  # names of the tags in a configuration of Label Studio


@dataclass(frozen=True)
class Item:
    """A row, what was said of it, and what the model makes of it (`probability` by class)."""

    row: int
    answer: str = ""
    label: str | None = None
    probability: dict[str, float] = field(default_factory=dict)

    @property
    def guess(self) -> str | None:
        """The likeliest class."""
        return max(self.probability, key=self.probability.__getitem__) if self.probability else None


@dataclass(frozen=True)
class Shape:
    """What is written of each row: names, the column shown, the classes, and all cells or not."""

    rows: RowNames
    classes: Sequence[str] = ()
    text: str | None = None
    image: str | None = None
    cells: bool = True

    def data(self, item: Item, *, tool: bool = False) -> dict[str, Any]:
        """The name of a row, its cells, and letters that betray a pool that has changed.

        A column of the pool that would hide one of ours is renamed. For a `tool`, which may have
        numbers of its own under the same name, a row is called `row` or `row_id`.
        """
        rows = self.rows
        heading = rows.heading if not tool else ROW if rows.column is None else ROW_ID
        known: dict[str, Any] = {heading: item.row if rows.column is None else rows.name(item.row)}
        if self.cells:
            ours = (heading, LABEL, ANSWER, CHECK)
            for key, value in rows.table.row(item.row).items():
                if key != rows.column or tool:
                    known[f"pool.{key}" if key.lower() in ours else key] = value
            if rows.column is None:
                known[CHECK] = rows.check(item.row)
        return known


def write_rows(items: Sequence[Item], shape: Shape, to: str) -> Iterator[str]:
    """The rows as text in the format `to`, piece by piece.

    >>> import pathlib, tempfile
    >>> from apm.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pool = pathlib.Path(folder, "pool.csv")
    ...     _ = pool.write_text("text\\nbuy now\\nhello you\\n")
    ...     shape = Shape(RowNames(read_table(pool)), ("ham", "spam"), text="text")
    >>> print("".join(write_rows([Item(1)], shape, "csv")), end="")
    row,label,text,check
    1,,hello you,jacoglnk
    >>> print("".join(write_rows([Item(1)], shape, "doccano")), end="")
    {"text": "hello you", "label": [], "row": 1, "check": "jacoglnk"}
    """
    if to not in FORMATS:
        raise InvalidArgument("to", f"must be one of {', '.join(FORMATS)}", to)
    return FORMATS[to](items, shape)


def _csv(items: Sequence[Item], shape: Shape) -> Iterator[str]:
    told = any(item.answer or item.probability for item in items)
    results = [LABEL, *((ANSWER, "predicted", "probability") if told else ())]
    by_class = [f"p: {name}" for name in shape.classes] if told else []
    first = Item(0) if len(shape.rows.table) else None
    heading, *cells = shape.data(first or items[0])
    yield csv_line([heading, *results, *by_class, *cells])
    for item in items:
        name, *rest = shape.data(item).values()
        found: list[Any] = [item.label]
        if told:
            found += [item.answer, item.guess, _rounded(item.probability.get(item.guess or ""))]
            found += [_rounded(item.probability.get(name)) for name in shape.classes]
        yield csv_line([name, *found, *rest])


def _jsonl(items: Sequence[Item], shape: Shape) -> Iterator[str]:
    for item in items:
        heading, *_ = known = shape.data(item)
        record: dict[str, Any] = {heading: known.pop(heading), LABEL: item.label}
        if item.answer:
            record[ANSWER] = item.answer
        if item.probability:
            record["predicted"] = item.guess
            record["probability"] = item.probability
        yield _json({**record, **known})


def _label_studio(items: Sequence[Item], shape: Shape) -> Iterator[str]:
    yield "["
    for place, item in enumerate(items):
        task: dict[str, Any] = {"data": shape.data(item, tool=True)}
        if item.label is not None:
            task["annotations"] = [{"result": [_choice(item.label)]}]
        if item.guess is not None:
            score = item.probability[item.guess]
            result = [_choice(item.guess)]
            task["predictions"] = [{"model_version": "apm", "score": score, "result": result}]
        yield ("\n" if place == 0 else ",\n") + _json(task).rstrip("\n")
    yield "\n]\n"


def _choice(label: str) -> dict[str, Any]:
    return {"from_name": FROM, "to_name": TO, "type": "choices", "value": {"choices": [label]}}


def _doccano(items: Sequence[Item], shape: Shape) -> Iterator[str]:
    if shape.text is None:
        rule = "takes texts only: name their column with --text"
        raise InvalidArgument("to", rule, "doccano")
    for item in items:
        known = shape.data(item, tool=True)
        text = shape.rows.table.column(shape.text, "text").text(item.row)
        known.pop(shape.text, None)
        label = [] if item.label is None else [item.label]
        known.pop("text", None)
        yield _json({"text": text, "label": label, **known})


def _prodigy(items: Sequence[Item], shape: Shape) -> Iterator[str]:
    if shape.text is None and shape.image is None:
        rule = "shows a text or an image: name its column with --text or --image"
        raise InvalidArgument("to", rule, "prodigy")
    options = [{"id": name, "text": name} for name in shape.classes]
    for item in items:
        known = shape.data(item, tool=True)
        shown = {}
        for key, column in (("text", shape.text), ("image", shape.image)):
            if column is not None:
                shown[key] = shape.rows.table.column(column, key).text(item.row)
                known.pop(column, None)
        record: dict[str, Any] = {**shown, "meta": known}
        if options:
            record["options"] = options
        if item.label is not None:
            record |= {"accept": [item.label], "answer": "accept"}
        elif item.answer:
            record["answer"] = "ignore"
        if item.guess is not None:
            known |= {"predicted": item.guess, "score": item.probability[item.guess]}
        yield _json(record)


FORMATS: dict[str, Callable[[Sequence[Item], Shape], Iterator[str]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "label-studio": _label_studio,
    "doccano": _doccano,
    "prodigy": _prodigy,
}


def _json(value: Any) -> str:
    """One line of JSON; control characters and halves of surrogate pairs are written as escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    safe = "".join(c if c.isprintable() or c == " " else json.dumps(c)[1:-1] for c in text)
    return safe + "\n"


def _rounded(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"
