"""What the page does: the item, the answer, second thoughts, reasons; for any number of tabs."""

from __future__ import annotations

import secrets
import threading
from typing import Any

import numpy as np

from apm.label.book import LABELLED, SKIPPED, UNSURE, Answer, LabelFile
from apm.label.escaping import as_label
from apm.label.page.ahead import Ahead
from apm.label.session import Answers, Session
from channelcode.errors import ChannelCodeError, InvalidArgument

POINTS = 30  # of the learning curve
CELLS = 40  # of a row that are shown
LONGEST_CELL = 20_000  # characters


class Stale(ChannelCodeError, RuntimeError):
    """The item has been answered in the meantime: in another tab, or by another program."""


class Desk:
    """The item to label now, and what happens when it is answered.

    Every answer is on the disk before `answer` returns. An answer names its `turn`: a second key
    that was pressed for the same item, or another tab, does not label an item that nobody saw.
    """

    def __init__(
        self,
        file: LabelFile,
        session: Session,
        *,
        text: str | None = None,
        image: str | None = None,
    ) -> None:
        self.file, self.session = file, session
        self.table = file.rows.table
        self.text, self.image = text, image
        self._lock = threading.RLock()
        self._slow = threading.Lock()  # advice and curves, one at a time
        self._name = secrets.token_hex(4)  # of this run: turns of an earlier one are stale
        self._count = 0
        self._answers: Answers = file.read()
        self._progress: tuple[Answers, dict[str, Any]] | None = None
        self.ahead = Ahead(self._choose)
        self._think()

    # What is seen ---------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the page shows of the present turn."""
        with self._lock:
            self._reload()
            answers, turn = dict(self._answers), self._turn()
        row = self.ahead.pick(answers)
        counts = dict.fromkeys(self.session.known_classes(answers), 0)
        for answer in answers.values():
            if answer.kind == LABELLED:
                counts[answer.label] += 1
        return {
            "turn": turn,
            "item": None if row is None else self._item(row),
            "classes": list(counts),
            "counts": list(counts.values()),
            "labelled": sum(counts.values()),
            "skipped": sum(answer.kind == SKIPPED for answer in answers.values()),
            "unsure": sum(answer.kind == UNSURE for answer in answers.values()),
            "rows": len(self.table),
            "undo": next(reversed(answers)) if answers else None,
        }

    def explain(self, row: Any, turn: Any) -> list[str]:
        """Why the item of this turn is asked, line by line."""
        answers = self._now(turn)
        self._require(row, answers)
        with self._slow:
            return str(self.session.learner(answers).explain(row)).splitlines()

    def progress(self) -> dict[str, Any]:
        """The learning curve that the model expects, and what further labels would bring."""
        with self._lock:
            self._reload()
            answers = dict(self._answers)
        told = {row: answer for row, answer in answers.items() if answer.kind == LABELLED}
        if len({answer.label for answer in told.values()}) < 2:
            return {"labels": [], "accuracy": [], "advice": []}
        with self._slow:
            if self._progress is None or self._progress[0] != answers:
                learner = self.session.in_order(told)
                curve = learner.curve(every=max(1, len(told) // POINTS))
                advice = self.session.learner(answers).stop_advice()
                found = {
                    "labels": curve.labels.tolist(),
                    "accuracy": np.round(curve.accuracy, 4).tolist(),
                    "advice": str(advice).splitlines(),
                }
                self._progress = answers, found
            return self._progress[1]

    # What is done ---------------------------------------------------------------------------

    def answer(self, row: Any, kind: Any, label: Any, turn: Any) -> None:
        """Take the answer for the item of this turn; it is on the disk when this returns."""
        if kind not in (LABELLED, SKIPPED, UNSURE):
            raise InvalidArgument("kind", "must be label, skip or unsure", kind)
        name = as_label(label) if isinstance(label, str) and kind == LABELLED else ""
        if name is None or (kind == LABELLED and not name):
            raise InvalidArgument("label", "must be one line of text", label)
        with self._lock:
            self._reload()
            self._require(row, self._now(turn))
            self._write(row, Answer(kind, name))

    def undo(self, turn: Any) -> None:
        """Open the row that was answered last."""
        with self._lock:
            self._reload()
            answers = self._now(turn)
            if answers:
                self._write(next(reversed(answers)), None)

    def close(self) -> None:
        """End the thread that thinks ahead."""
        self.ahead.close()

    # Inside ---------------------------------------------------------------------------------

    def _choose(self, answers: Answers) -> int | None:
        found = self.session.ask(answers)
        return found[0] if found else None

    def _turn(self) -> str:
        return f"{self._name}-{self._count}"

    def _now(self, turn: Any) -> Answers:
        """The answers of this turn; an error if there is another by now."""
        with self._lock:
            if turn != self._turn():
                raise Stale("this item was answered elsewhere; here is the next")
            return dict(self._answers)

    def _require(self, row: Any, answers: Answers) -> None:
        if isinstance(row, bool) or not isinstance(row, int) or row != self.ahead.pick(answers):
            raise Stale("this item is not the one to label now; here it is")

    def _write(self, row: int, answer: Answer | None) -> None:
        self.file.append([(row, answer)])
        self._take(self.file.read())

    def _reload(self) -> None:
        """Take in what another program wrote into the label file."""
        found = self.file.read()
        if list(found.items()) != list(self._answers.items()):
            self._take(found)

    def _take(self, answers: Answers) -> None:
        self._answers, self._count = answers, self._count + 1
        self._think()

    def _think(self) -> None:
        """Have the next item worked out for each answer that this one may get."""
        answers = dict(self._answers)
        given = [Answer(LABELLED, name) for name in self.session.known_classes(answers)]
        given += [Answer(SKIPPED), Answer(UNSURE)]

        def following(row: int | None) -> list[Answers]:
            return [] if row is None else [{**answers, row: answer} for answer in given]

        self.ahead.think_of(answers, following)

    def _item(self, row: int) -> dict[str, Any]:
        shown = {}
        columns = self.table.columns
        for column in columns:
            if column.name not in (self.text, self.image) and len(shown) < CELLS:
                shown[column.name] = column.text(row)[:LONGEST_CELL]
        item: dict[str, Any] = {
            "row": row,
            "name": self.file.rows.name(row),
            "cells": shown,
            "more": max(0, len(columns) - CELLS),
        }
        if self.text is not None:
            item["text"] = self.table.column(self.text, "text").text(row)[:LONGEST_CELL]
        if self.image is not None:
            item["image"] = self.table.column(self.image, "image").text(row)
        return item
