"""The part of a learner that takes answers: a call builds a new state and commits it at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from apm.answering.state import Setup, State, closed, extended, learned, refitted
from apm.journal import Entry, ScoreSummary
from apm.pools.inputs import (
    as_list,
    as_matrix,
    as_row_number,
    as_weights,
    in_form_of,
    is_streamed,
    matching_columns,
)
from apm.posteriors.labels import as_label
from apm.rounds import Asked, induced_law
from apm.storage.answers import Answer, Answers
from channelcode.errors import InvalidArgument

P = ParamSpec("P")
R = TypeVar("R")


def locked(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """One thread at a time: the others wait."""

    @wraps(method)
    def guarded(self: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return guarded


class Labelling:
    """Answers and second thoughts, as events of an append-only journal.

    The posterior follows from the labels in force; rows that are labelled, skipped or abstained
    from are not asked.
    """

    _setup: Setup
    _state: State
    _asked: Asked | None
    _lock: threading.RLock
    _norm: tuple[Any, float] | None

    # Answers ----------------------------------------------------------------------------------

    @locked
    def tell(
        self,
        index: Any,
        label: Any,
        *,
        expert: Any = None,
        sample_weight: Any = None,
        repeat: bool = False,
    ) -> None:
        """Take the label of one row, or of several at once (equal lengths).

        Any row may be told, asked or not. The same label again is ignored, and another one is an
        error (see `correct`), unless `repeat=True` says that it is a further answer for the same
        row, for instance of another person. `sample_weight` is one number, or one for each label.
        `expert` says who answered where the learner has experts (`apm.ExpertLearner`). After an
        error nothing of the call is kept.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.tell([0, 1], ["yes", "no"])
        >>> learner.tell(0, "no", repeat=True, sample_weight=0.5)
        >>> learner.labelled, len(learner.history)
        (array([0, 1]), 3)
        """
        started = perf_counter()
        if expert is not None:
            rule = "must not be given: the learner was made without experts"
            raise InvalidArgument("expert", rule, expert)
        self._catch_up()
        answers = self._fresh(index, label, sample_weight, repeat)
        if not answers:
            return
        event, channel = "repeat" if repeat else "tell", self._state.belief.channel
        known = [self._known(answer.row) for answer in answers]
        updated = learned(self._setup, self._state, answers)
        seconds = (perf_counter() - started) / len(answers)
        entries = []
        for (row, value, weight), (law, summary, power, spent) in zip(answers, known):
            spent += seconds
            entry = Entry(row, value, summary, law, power, spent, event, weight, channel=channel)
            entries.append(entry)
        self._commit(updated, entries)

    @locked
    def skip(self, index: Any) -> None:
        """Do not ask this row (or these rows) again until `unskip`.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.skip(learner.ask())
        >>> int(learner.ask()), learner.skipped
        (0, array([2]))
        """
        answers = self._answers_now()
        rows = [row for row in self._unlabelled(index) if row not in answers.skipped]
        self._commit(self._state, [Entry(row, event="skip") for row in rows])

    @locked
    def unskip(self, index: Any = None) -> None:
        """Let skipped rows be asked again: this one, these, or all."""
        skipped = self._answers_now().skipped
        rows = sorted(skipped) if index is None else self._rows(index)
        for row in rows:
            if row not in skipped:
                raise InvalidArgument("index", "must be a skipped row", row)
        self._commit(self._state, [Entry(row, event="unskip") for row in rows])

    @locked
    def abstain(self, index: Any) -> None:
        """Take "don't know" as the answer for a row (or rows): on record, and not asked again.

        It says nothing about the parameters. A label may still be told later.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.abstain(2)
        >>> learner.abstained, learner.remaining
        (array([2]), array([0, 1]))
        """
        answers = self._answers_now()
        rows = [row for row in self._unlabelled(index) if row not in answers.abstained]
        self._commit(self._state, [Entry(row, event="abstain") for row in rows])

    @locked
    def correct(self, index: int, label: Any) -> None:
        """Replace the label of a row; everything is then as if this one had been told.

        Several answers for the row become this single one; a single answer keeps its weight.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.tell([0, 1], ["yes", "yes"])
        >>> learner.correct(1, "no")
        >>> [(record.event, record.index, record.label) for record in learner.history]
        [('tell', 0, 'yes'), ('tell', 1, 'yes'), ('correct', 1, 'no')]
        """
        answers = self._answers_now()
        state = self._state
        (row,), (value,) = self._rows(index), _labels(label, 1)
        held = [answer for answer in answers.answers if answer.row == row]
        if not held:
            raise InvalidArgument("index", "must be a labelled row", row)
        weight = held[0].weight if len(held) == 1 else 1.0
        if len(held) == 1 and held[0].label == value:
            return
        entry = Entry(row, value, event="correct", sample_weight=weight)
        corrected = state.journal.plus([entry]).answers
        self._commit(refitted(self._setup, state, corrected.answers), [entry])

    @locked
    def undo(self) -> np.ndarray:
        """Take back the last call of tell, skip, unskip, abstain or correct; again, the one before.

        Returns the rows that it was about. The record of the call stays, and one of the undo is
        added.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0], [2.0]], VariationalLogistic(), seed=0)
        >>> learner.tell(2, "no")
        >>> learner.undo()
        array([2])
        >>> learner.labelled.tolist(), [record.event for record in learner.history]
        ([], ['tell', 'undo'])
        """
        self._catch_up()
        state = self._state
        entries = state.journal.undoing()
        if not entries:
            raise InvalidArgument("learner", "must have a call to take back", "no such call")
        before, now = state.journal.plus(entries).answers, state.journal.answers
        if before.answers == now.answers:  # a skip, an abstention: nothing to fit
            after = state
        elif (
            (held := state.previous) is not None
            and held.features is state.features
            and held.journal.answers == before
        ):
            channel = replace(state.journal, channel=held.journal.channel)
            after = state._replace(belief=held.belief, selector=held.selector, journal=channel)
        else:
            after = refitted(self._setup, state, before.answers)
        self._commit(after, entries)
        return np.array([entry.index for entry in entries], dtype=np.intp)[::-1]

    @locked
    def extend(self, more_rows: ArrayLike) -> None:
        """Add rows to the pool, `(m, d)`; they get the next row numbers and may be asked.

        The encoder stays as it is; the selector looks at the whole pool anew.

        >>> from apm import Learner, VariationalLogistic
        >>> learner = Learner([[1.0], [-1.0]], VariationalLogistic(), seed=0)
        >>> learner.tell(0, "yes")
        >>> learner.extend([[3.0], [0.5]])
        >>> learner.remaining
        array([1, 2, 3])
        """
        self._catch_up()
        self._grow(self._more(more_rows))

    # Inside -----------------------------------------------------------------------------------

    def _answers_now(self) -> Answers:
        self._catch_up()
        return self._state.journal.answers

    def _rows(self, index: Any) -> list[int]:
        listed = as_list(index, "index")
        rows = [as_row_number(position, len(self._state.pool)) for position in listed]
        return list(dict.fromkeys(rows))

    def _unlabelled(self, index: Any) -> list[int]:
        labels = self._state.journal.answers.labels
        rows = self._rows(index)
        for row in rows:
            if row in labels:
                raise InvalidArgument("index", "must not be labelled already", row)
        return rows

    def _fresh(self, index: Any, label: Any, sample_weight: Any, repeat: bool) -> list[Answer]:
        """The answers to learn from, after all checks."""
        positions = as_list(index, "index")
        labels = _labels(label, len(positions))
        weights = [1.0] * len(positions)
        if sample_weight is not None:
            weights = as_weights(sample_weight, len(positions)).tolist()
        state, told = self._state, self._state.journal.answers
        rows = [as_row_number(position, len(state.pool)) for position in positions]
        answers = [Answer(*each) for each in zip(rows, labels, weights)]
        if repeat:
            return answers
        new: dict[int, Answer] = {}
        for answer in answers:
            row, value, weight = answer
            known = told.labels[row] if row in told.labels else new.get(row, answer).label
            if known != value:
                rule = f"must agree with the label of row {row}, {known!r}"
                raise InvalidArgument("label", rule, value)
            if row not in told.labels:
                new.setdefault(row, answer)
            elif sample_weight is not None:
                rule = f"must be given with the first label of row {row}, or with repeat=True"
                raise InvalidArgument("sample_weight", rule, weight)
        return list(new.values())

    def _known(self, row: int) -> tuple[Any, ScoreSummary | None, float | None, float]:
        """Of a row just before its label: law, scores, largest power, seconds of its selection."""
        asked, belief, features = self._asked, self._state.belief, self._state.features
        if asked is None or row not in asked.choice.indices.tolist():
            return induced_law(belief, features, row), None, None, 0.0
        if asked.belief is not belief:  # it has changed since
            return induced_law(belief, features, row), asked.summary(row), None, asked.seconds
        bound = not asked.choice.has_laws and belief.posterior.linear
        power = asked.largest_power(belief, self._radius() if bound else None)
        return asked.law(belief, features, row), asked.summary(row), power, asked.seconds

    def _radius(self) -> float:
        """The largest norm of the encoded pool."""
        state = self._state
        if self._norm is None or self._norm[0] is not state.features:
            self._norm = state.features, state.belief.radius(state.features)
        return self._norm[1]

    def _more(self, more_rows: Any) -> Any:
        """More rows in the form of the pool: of its type, sparse if it is."""
        pool = self._state.pool
        if is_streamed(pool):
            rule = "must not be added to a pool that is streamed: write them to its source"
            raise InvalidArgument("more_rows", rule, type(more_rows).__name__)
        known = self._state.belief.posterior.shaped(more_rows)
        matrix = matching_columns(known, self._setup.columns, pool.shape[1], "more_rows")
        with np.errstate(over="ignore"):
            rows = matrix.astype(pool.dtype, copy=False)
        return as_matrix(in_form_of(pool, rows), "more_rows")

    def _grow(self, rows: Any) -> None:
        """Add rows that have the form of the pool."""
        state = self._state
        if len(rows):
            entry = Entry(len(state.pool), len(rows), event="extend")
            self._commit(extended(self._setup, state, rows), [entry])

    def _catch_up(self) -> None:
        """Take in what a journal file has and the state has not."""

    def _written(self, entries: tuple[Any, ...], state: State) -> None:
        """Called with the entries of a call before they count."""

    def _commit(self, state: State, entries: list[Entry], *, together: bool = True) -> None:
        """Make the state with these entries the present one."""
        if not entries:
            return
        journal = state.journal.plus(entries, together=together)
        before = self._state._replace(previous=None)
        is_open = closed(state, journal.answers, entries)
        new = state._replace(journal=journal, open=is_open, previous=before)
        self._written(journal.entries[len(state.journal.entries) :], new)
        self._state = new


def _labels(label: Any, count: int) -> list[Any]:
    """As many plain labels as there are rows, each checked."""
    listed = as_list(label, "label")
    if len(listed) != count:
        rule = f"must have one entry for each of {count} rows"
        raise InvalidArgument("label", rule, f"{len(listed)} labels")
    return [as_label(value) for value in listed]
