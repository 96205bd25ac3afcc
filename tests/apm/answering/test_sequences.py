"""Any sequence of answers and second thoughts: the learner is that of the labels in force."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from apm import Learner
from channelcode.errors import InvalidArgument

POOL = np.random.default_rng(5).normal(size=(9, 2))
MORE = np.random.default_rng(6).normal(size=(4, 2))
ROWS = st.integers(0, len(POOL) - 1)
LABELS = st.sampled_from(["a", "b", "c"])
WEIGHTS = st.sampled_from([None, 0.5, 2.0])


class Answering(RuleBasedStateMachine):
    """A learner beside a plain list of answers, sets of rows set aside, and a stack of both."""

    def __init__(self) -> None:
        super().__init__()
        self.learner = Learner(POOL, seed=3)
        self.answers: list[tuple[int, str, float]] = []
        self.skipped: set[int] = set()
        self.abstained: set[int] = set()
        self.calls: list[Any] = []
        self.rows = len(POOL)

    # The model --------------------------------------------------------------------------------

    def labelled(self) -> dict[int, str]:
        return {row: label for row, label, _ in self.answers}

    def remember(self) -> None:
        self.calls.append((list(self.answers), set(self.skipped), set(self.abstained)))

    def answer(self, row: int, label: str, weight: float | None) -> None:
        self.remember()
        self.answers.append((row, label, 1.0 if weight is None else weight))
        self.skipped.discard(row)
        self.abstained.discard(row)

    # Calls ------------------------------------------------------------------------------------

    @rule(row=ROWS, label=LABELS, weight=WEIGHTS)
    def tell(self, row: int, label: str, weight: float | None) -> None:
        known = self.labelled().get(row)
        if known is None:
            self.learner.tell(row, label, sample_weight=weight)
            self.answer(row, label, weight)
        elif known == label and weight is None:
            self.learner.tell(row, label)  # the same again: ignored
        else:
            with pytest.raises(InvalidArgument):
                self.learner.tell(row, label, sample_weight=weight)

    @rule(row=ROWS, label=LABELS, weight=WEIGHTS)
    def tell_again(self, row: int, label: str, weight: float | None) -> None:
        self.learner.tell(row, label, sample_weight=weight, repeat=True)
        self.answer(row, label, weight)

    @rule(label=LABELS)
    def tell_what_is_asked(self, label: str) -> None:
        if len(self.learner.remaining):
            row = int(self.learner.ask())
            assert row in self.learner.remaining
            self.learner.tell(row, label)
            self.answer(row, label, None)

    @rule(row=ROWS, label=LABELS)
    def correct(self, row: int, label: str) -> None:
        held = [answer for answer in self.answers if answer[0] == row]
        if not held:
            with pytest.raises(InvalidArgument):
                self.learner.correct(row, label)
            return
        self.learner.correct(row, label)
        if len(held) == 1 and held[0][1] == label:
            return
        self.remember()
        weight = held[0][2] if len(held) == 1 else 1.0
        place = self.answers.index(held[0])
        kept = [answer for answer in self.answers if answer[0] != row]
        before = sum(answer[0] != row for answer in self.answers[:place])
        self.answers = [*kept[:before], (row, label, weight), *kept[before:]]

    @rule(row=ROWS)
    def skip(self, row: int) -> None:
        if row in self.labelled():
            with pytest.raises(InvalidArgument):
                self.learner.skip(row)
            return
        self.learner.skip(row)
        if row not in self.skipped:
            self.remember()
            self.skipped.add(row)

    @rule(row=ROWS)
    def unskip(self, row: int) -> None:
        if row not in self.skipped:
            with pytest.raises(InvalidArgument):
                self.learner.unskip(row)
            return
        self.learner.unskip(row)
        self.remember()
        self.skipped.discard(row)

    @rule(row=ROWS)
    def abstain(self, row: int) -> None:
        if row in self.labelled():
            with pytest.raises(InvalidArgument):
                self.learner.abstain(row)
            return
        self.learner.abstain(row)
        if row not in self.abstained:
            self.remember()
            self.abstained.add(row)
            self.skipped.discard(row)

    @rule()
    def undo(self) -> None:
        if not self.calls:
            with pytest.raises(InvalidArgument):
                self.learner.undo()
            return
        self.learner.undo()
        self.answers, self.skipped, self.abstained = self.calls.pop()

    @precondition(lambda self: self.rows < len(POOL) + len(MORE))
    @rule()
    def extend(self) -> None:
        self.learner.extend(MORE[self.rows - len(POOL)][None])
        self.rows += 1

    @rule(way=st.sampled_from(["file", "pickle", "copy"]))
    def live_on_as_a_copy(self, way: str) -> None:
        if way == "file":
            with tempfile.TemporaryDirectory() as folder:
                self.learner.save(Path(folder) / "learner.npz")
                self.learner = Learner.load(Path(folder) / "learner.npz")
        elif way == "pickle":
            self.learner = pickle.loads(pickle.dumps(self.learner))
        else:
            self.learner = copy.deepcopy(self.learner)

    # What must hold ---------------------------------------------------------------------------

    @invariant()
    def rows_are_those_of_the_model(self) -> None:
        labels = self.labelled()
        closed = {*labels, *self.skipped, *self.abstained}
        assert self.learner.labelled.tolist() == list(labels)
        assert self.learner.skipped.tolist() == sorted(self.skipped)
        assert self.learner.abstained.tolist() == sorted(self.abstained)
        assert self.learner.remaining.tolist() == [r for r in range(self.rows) if r not in closed]

    @invariant()
    def the_posterior_is_that_of_the_labels_in_force(self) -> None:
        pool = np.concatenate((POOL, MORE))[: self.rows]
        fresh = Learner(POOL, seed=3)
        if self.rows > len(POOL):
            fresh.extend(pool[len(POOL) :])
        for row, label, weight in self.answers:
            fresh.tell(row, label, sample_weight=weight, repeat=True)
        assert self.learner.classes_.tolist() == fresh.classes_.tolist()
        # both are the same optimum, found from other starts to about 1e-8
        found, expected = self.learner.predict_proba(pool), fresh.predict_proba(pool)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        assert self.learner.belief.posterior.num_labels == fresh.belief.posterior.num_labels
        assert type(self.learner.selector) is type(fresh.selector)


TestAnswering = Answering.TestCase
TestAnswering.settings = settings(max_examples=12, stateful_step_count=14, deadline=None)
