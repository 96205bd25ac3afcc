"""The part of a learner that keeps its journal in a file, line by line, as the answers come."""

from __future__ import annotations

import os
import threading
from itertools import groupby
from typing import Any

from apm.answering.labelling import Labelling, locked
from apm.answering.state import State
from apm.pools.inputs import is_streamed
from apm.pools.marks import mark_of
from apm.storage import JournalFile, fingerprint
from apm.storage.lines import JournalError, header_of
from channelcode.errors import InvalidArgument


class Recording(Labelling):
    """A learner's answers, on the disk before they count."""

    _file: JournalFile | None = None
    _replaying: bool = False

    @locked
    def record_to(
        self,
        path: str | os.PathLike[str],
        *,
        more_rows: Any = None,
        repair: bool = False,
    ) -> int:
        """Keep every further call in the journal file `path`, and take in what it holds already.

        From then on `tell`, `skip`, `undo` and the others return when their line is on the disk. A
        file that is there must be of this pool, and its calls must begin with the learner's, or
        the learner's with them; what one of them lacks is replayed or written. Rows that the
        journal saw added by `extend` are given as `more_rows`. Returns the number of calls on file.

        >>> import tempfile
        >>> from apm import Learner, VariationalLogistic
        >>> X = [[1.0], [-1.0], [2.0]]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     first = Learner(X, VariationalLogistic(), seed=0)
        ...     _ = first.record_to(f"{folder}/labels.jsonl")
        ...     first.tell(2, "no")  # on the disk
        ...     first.stop_recording()
        ...     again = Learner(X, VariationalLogistic(), seed=0)
        ...     again.record_to(f"{folder}/labels.jsonl"), again.labelled.tolist()
        ...     again.stop_recording()
        (1, [2])
        """
        if self._file is not None:
            raise InvalidArgument("path", f"must not be given twice: {self._file.path}", str(path))
        state = self._state
        about = {
            "pool": pool_mark(state.pool, self._setup.rows, header_of(path).get("pool")),
            "rows": self._setup.rows,
            "columns": self._setup.columns,
        }
        file = JournalFile(path, about, repair=repair)
        try:
            own, on_file = events_of(state), list(file.events)
            shared = min(len(own), len(on_file))
            if own[:shared] != on_file[:shared]:
                place = next(i for i in range(shared) if own[i] != on_file[i])
                raise JournalError(
                    f"{file.path} and the learner differ from call {place + 1} on: "
                    f"{on_file[place]} on file, {own[place]} here"
                )
            more = None if more_rows is None else self._more(more_rows)
            for event in on_file[shared:]:
                more = self._replay(event, more)
            for event in own[shared:]:
                file.append(event)
        except BaseException:
            self._state = state
            file.close()
            raise
        self._file = file
        return len(file)

    @locked
    def stop_recording(self) -> None:
        """Close the journal file; another process may then use it."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def __getstate__(self) -> dict[str, Any]:
        held = dict(self.__dict__)
        held.pop("_lock")
        held.pop("_file", None)  # a copy does not write into the original's journal file
        return held

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self._lock = threading.RLock()

    # Inside -----------------------------------------------------------------------------------

    def _written(self, entries: tuple[Any, ...], state: State) -> None:
        if self._file is not None and not self._replaying:
            self._file.append(_event(list(entries), state.pool))

    def _catch_up(self) -> None:
        """Take in a call that was interrupted between the disk and the learner."""
        calls = self._state.journal.calls
        if self._file is None or self._replaying or len(self._file) == calls:
            return
        for event in self._file.events[calls:]:
            self._replay(event, None)

    def _replay(self, event: dict[str, Any], more_rows: Any) -> Any:
        """Do what an event says, without writing it again; the rows not used yet.

        `more_rows` have the form of the pool.
        """
        calls, before = self._state.journal.calls, self._replaying
        self._replaying = True
        try:
            more_rows = self._act(event, more_rows)
        except (KeyError, TypeError) as error:
            raise JournalError(f"the journal holds an event that is none: {event}") from error
        finally:
            self._replaying = before
        if self._state.journal.calls != calls + 1:
            raise JournalError(f"the journal holds an event without effect: {event}")
        return more_rows

    def _act(self, event: dict[str, Any], more_rows: Any) -> Any:
        kind = event["event"]
        # by the calls of `Labelling` itself: a learner with experts has others, about its pairs
        if kind in ("tell", "repeat"):
            rows, labels, weights = event["rows"], event["labels"], event.get("weights")
            Labelling.tell(self, rows, labels, sample_weight=weights, repeat=kind == "repeat")
        elif kind == "correct":
            Labelling.correct(self, *event["rows"], *event["labels"])
        elif kind in ("skip", "unskip", "abstain"):
            getattr(Labelling, kind)(self, event["rows"])
        elif kind == "undo":
            Labelling.undo(self)
        elif kind == "extend":
            count = event["rows"]
            if more_rows is None or len(more_rows) < count:
                rule = f"must hold the {count} rows that the journal saw added"
                raise InvalidArgument("more_rows", rule, more_rows)
            rows = more_rows[:count]
            if fingerprint(rows) != event["pool"]:
                raise JournalError("more_rows differ from those that the journal saw added")
            self._grow(rows)
            return more_rows[count:]
        else:
            raise KeyError(kind)
        return more_rows


def pool_mark(pool: Any, rows: int, like: Any) -> str:
    """The mark of the first rows of a pool, in the form of another; a streamed one is whole."""
    first = pool if is_streamed(pool) else pool[:rows]
    return mark_of(first, like if isinstance(like, str) else None)


def events_of(state: State) -> list[dict[str, Any]]:
    """The calls of a state as a journal file holds them."""
    calls = groupby(state.journal.entries, key=lambda entry: entry.call)
    return [_event(list(entries), state.pool) for _, entries in calls]


def _event(entries: list[Any], pool: Any) -> dict[str, Any]:
    first = entries[0]
    if first.event == "undo":
        return {"event": "undo"}
    if first.event == "extend":
        rows = pool[first.index : first.index + first.label]
        return {"event": "extend", "rows": first.label, "pool": fingerprint(rows)}
    event: dict[str, Any] = {"event": first.event, "rows": [entry.index for entry in entries]}
    if first.event in ("tell", "repeat", "correct"):
        event["labels"] = [entry.label for entry in entries]
        if any(entry.sample_weight != 1.0 for entry in entries):
            event["weights"] = [entry.sample_weight for entry in entries]
    return event
