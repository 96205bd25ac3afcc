"""Ctrl-C at every line of a learner with experts, and of `save`: before or after, never between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from apm import Expert, ExpertLearner, Laplace
from apm.learner import Learner
from channelcode import Lapse, Logistic
from tests.torture.cases import learner, pool, snapshot
from tests.torture.test_interrupts import interrupted
from tests.torture.test_threads import together

EXPERTS = [Expert(Logistic(), 3.0, "sure"), Expert(Lapse(Logistic(), 0.2, 0.2), 1.0, "noisy")]
PLACES = ("/apm/experts/", "/apm/answering/", "/apm/learner.py", "/apm/journal.py")

CALLS: dict[str, Callable[[Any], Any]] = {
    "tell": lambda held: held.tell(1, 1, expert="noisy"),
    "tell several": lambda held: held.tell([1, 3], [1, 0], expert="sure"),
    "correct": lambda held: held.correct(0, 1, expert="sure"),
    "undo": lambda held: held.undo(),
    "skip": lambda held: held.skip(3),
}


def begun(rows: int = 5) -> ExpertLearner:
    held = ExpertLearner(pool(rows), Laplace(Logistic(), 1.0), experts=EXPERTS, seed=5)
    held.tell([0, 2], [0, 1], expert="sure")
    return held


def seen(held: ExpertLearner) -> dict[str, Any]:
    posterior = held.belief.posterior
    return {
        "events": [(r.event, r.index, r.label, r.expert) for r in held.history],
        "observed": posterior.num_observations,
        "mean": np.asarray(posterior.mean).tolist(),
        "asks": repr(held.ask()),
    }


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_about_an_expert_interrupted_at_any_line_is_done_or_not_done(name, step):
    call = CALLS[name]
    untouched, done = seen(begun()), begun()
    call(done)
    after, line, kinds = seen(done), 1, set()
    assert after != untouched
    while interrupted(held := begun(), call, line, PLACES):
        found = seen(held)
        assert found in (untouched, after), f"line {line}"
        kinds.add(found == after)
        line += step
    assert line > 10
    assert False in kinds


# a file that an interrupt leaves before its `with` is closed when it is collected
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_save_interrupted_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "learner.npz"
    held = learner(4)
    held.tell(0, "no")
    held.save(path)
    old = snapshot(Learner.load(path))
    held.tell([1, 2], ["yes", "no"])
    state, kinds, line = snapshot(held), set(), 1
    while interrupted(held, lambda each: each.save(path), line, ("/apm/archive/", "/apm/storage/")):
        found = snapshot(Learner.load(path))
        assert found in (old, state), f"line {line}"
        assert [each.name for each in tmp_path.iterdir()] == ["learner.npz"], f"line {line}"
        assert snapshot(held) == state
        kinds.add(found == state)
        line += 7
    assert False in kinds
    assert snapshot(Learner.load(path)) == state


def test_labels_of_experts_told_by_four_threads_all_count():
    held, rows = begun(20), range(3, 20)

    def tells(first: int) -> None:
        for row in rows[first::4]:
            held.tell(row, row % 2, expert="noisy" if row % 3 else "sure")
            assert row in held.labelled
            held.ask()

    together(*(lambda first=first: tells(first) for first in range(4)))
    assert held.belief.posterior.num_observations == len(held.history) == 2 + len(rows)
    told = {(r.index, r.label, r.expert) for r in held.history}
    assert told >= {(row, row % 2, "noisy" if row % 3 else "sure") for row in rows}
