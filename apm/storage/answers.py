"""What a sequence of events amounts to: the labels in force, the rows skipped, the abstentions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from channelcode.errors import InvalidArgument

TAKEN_BACK = ("tell", "repeat", "correct", "skip", "unskip", "abstain")  # what `undo` can undo
EVENTS = (*TAKEN_BACK, "undo", "extend")


class Answer(NamedTuple):
    """One label in force: the row, the label and its weight."""

    row: int
    label: Any
    weight: float


class Answers(NamedTuple):
    """The labels in the order they were told, and the rows set aside.

    - `answers`: one for each label in force; a row has several if it was labelled repeatedly;
    - `labels`: the last label of each labelled row;
    - `skipped`: rows not to be asked until `unskip`; `abstained`: rows whose answer was "don't
      know".
    """

    answers: tuple[Answer, ...] = ()
    labels: dict[int, Any] = {}
    skipped: frozenset[int] = frozenset()
    abstained: frozenset[int] = frozenset()

    def after(self, entries: Iterable[Any]) -> Answers:
        """The answers after more entries, none of them an undo."""
        answers, labels = list(self.answers), dict(self.labels)
        skipped, abstained = set(self.skipped), set(self.abstained)
        for entry in entries:
            row, event = entry.index, entry.event
            if event in ("tell", "repeat", "correct"):
                answer = Answer(row, entry.label, entry.sample_weight)
                if event == "tell" and row in labels:
                    raise InvalidArgument("index", "must not be labelled already", row)
                if event == "correct":
                    answers = _corrected(answers, answer)
                else:
                    answers.append(answer)
                labels[row] = entry.label
                skipped.discard(row)
                abstained.discard(row)
            elif event == "skip":
                skipped.add(row)
            elif event == "unskip":
                _remove(skipped, row, "a skipped row")
            elif event == "abstain":
                abstained.add(row)
                skipped.discard(row)
        return Answers(tuple(answers), labels, frozenset(skipped), frozenset(abstained))

    def is_closed(self) -> set[int]:
        """The rows that are not to be asked."""
        return {*self.labels, *self.skipped, *self.abstained}


def replayed(entries: Iterable[Any]) -> Answers:
    """What all entries amount to; those of calls that were taken back count for nothing."""
    listed = list(entries)
    undone = {entry.of for entry in listed if entry.event == "undo"}
    return Answers().after(e for e in listed if e.event != "undo" and e.call not in undone)


def last_call(entries: Iterable[Any]) -> int | None:
    """The number of the last call that can be taken back, or None."""
    listed = list(entries)
    undone = {entry.of for entry in listed if entry.event == "undo"}
    calls = (e.call for e in reversed(listed) if e.event in TAKEN_BACK and e.call not in undone)
    return next(calls, None)


def _corrected(answers: list[Answer], answer: Answer) -> list[Answer]:
    """The answers with those of one row replaced, at the place of the first."""
    places = [place for place, known in enumerate(answers) if known.row == answer.row]
    if not places:
        raise InvalidArgument("index", "must be a labelled row", answer.row)
    kept = [known for known in answers if known.row != answer.row]
    return [*kept[: places[0]], answer, *kept[places[0] :]]


def _remove(rows: set[int], row: int, rule: str) -> None:
    if row not in rows:
        raise InvalidArgument("index", f"must be {rule}", row)
    rows.remove(row)
