"""Ctrl-C at every line of every call: the learner is as before or as after, never between."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from apm.learner import Learner
from tests.torture.cases import learner, pool, snapshot

CALLS: dict[str, Callable[[Learner], Any]] = {
    "tell": lambda held: held.tell(1, "yes"),
    "tell several": lambda held: held.tell([1, 3], ["yes", "no"]),
    "tell a new class": lambda held: held.tell(3, "yes"),
    "repeat": lambda held: held.tell(0, "yes", repeat=True),
    "correct": lambda held: held.correct(2, "no"),
    "undo": lambda held: held.undo(),
    "skip": lambda held: held.skip([1, 3]),
    "abstain": lambda held: held.abstain(1),
    "extend": lambda held: held.extend(pool(2) + 1.0),
    "run": lambda held: held.run(["no", "yes", "yes", "no", "no"], 2),
}


INSIDE = ("/apm/storage/", "recording.py")


class Interrupter:
    """Raises at the n-th line that this library, or some part of it, executes."""

    def __init__(self, line: int, parts: tuple[str, ...]) -> None:
        self.left, self.parts = line, parts

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not any(part in frame.f_code.co_filename for part in self.parts):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def begun() -> Learner:
    held = learner(5)
    held.tell([0, 2], ["no", "yes"])
    return held


def interrupted(
    held: Learner,
    call: Callable[[Learner], Any],
    line: int,
    parts: tuple[str, ...] = ("/apm/",),
) -> bool:
    tracer = Interrupter(line, parts)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call(held)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("name", CALLS)
def test_a_call_interrupted_at_any_line_is_done_or_not_done(name):
    call = CALLS[name]
    call(begun())  # compiled before it is traced
    untouched = snapshot(begun())
    done = begun()
    call(done)
    after = snapshot(done)
    line, seen = 0, {"before": 0, "after": 0}
    while True:
        line += 1
        held = begun()
        if not interrupted(held, call, line):
            break
        found = snapshot(held)
        if name == "run" and found not in (untouched, after):  # between its rounds, step by step
            assert len(found["labelled"]) == found["seen"] == 3
            continue
        assert found in (untouched, after), f"line {line}"
        seen["before" if found == untouched else "after"] += 1
    assert line > 10
    assert seen["before"] > 5
    assert snapshot(held) == after
    if seen["after"]:  # an interrupted call may be repeated: nothing counts twice
        again = begun()
        interrupted(again, call, line - 1)
        assert again.belief.posterior.num_observations == after["seen"]


@pytest.mark.parametrize("name", ["tell", "tell several", "correct", "undo", "skip"])
def test_with_a_journal_file_the_next_call_finds_file_and_learner_in_step(name, tmp_path):
    call = CALLS[name]
    call(begun())
    done = begun()
    call(done)
    allowed = [[(r.event, r.index, r.label) for r in held.history] for held in (begun(), done)]
    line = 0
    while True:
        line += 1
        held = begun()
        path = tmp_path / f"{line}.jsonl"
        held.record_to(path)
        ended = not interrupted(held, call, line, INSIDE)
        held.abstain(4)  # whatever was interrupted, the next call goes on
        events = [(r.event, r.index, r.label) for r in held.history]
        held.stop_recording()
        again = learner(5)
        again.record_to(path)
        assert events[:-1] in allowed, f"line {line}"
        assert snapshot(again) == snapshot(held), f"line {line}"
        again.stop_recording()
        if ended:
            break
    assert line > 20


NEXT: dict[str, Callable[[Learner], Any]] = CALLS | {
    "ask": lambda held: held.ask(),
    "explain": lambda held: held.explain(4),
    "efficiency": lambda held: held.efficiency,
    "advice": lambda held: held.stop_advice(),
    "curve": lambda held: held.curve(),
    "skip": lambda held: held.skip([3]),
    "abstain": lambda held: held.abstain(3),
    "unskip": lambda held: held.unskip(4),
}


def torn(folder: Path) -> Learner:
    """A learner whose `tell` was interrupted between its journal file and its own state."""
    for line in count(1):
        held = begun()
        path = folder / f"{line}.jsonl"
        held.record_to(path)
        lines = path.read_bytes().count(b"\n")
        ended = not interrupted(held, lambda held: held.tell(1, "yes"), line, INSIDE)
        assert not ended, "no line lies between the file and the state"
        if path.read_bytes().count(b"\n") > lines and len(held.labelled) == 2:
            return held
        held.stop_recording()
    raise AssertionError


@pytest.mark.parametrize("name", [name for name in NEXT if name not in ("tell", "tell several")])
def test_any_next_call_takes_in_what_the_file_has(name, tmp_path):
    held, whole = torn(tmp_path), begun()
    whole.tell(1, "yes")
    for each in (held, whole):
        if name == "unskip":
            each.skip(4)
        NEXT[name](each)
    assert snapshot(held) == snapshot(whole)
    held.stop_recording()


def test_a_file_saved_after_an_interrupt_holds_what_the_journal_has(tmp_path):
    held = torn(tmp_path)
    again = Learner.load(held.save(tmp_path / "held.npz"))
    held.stop_recording()
    assert again.labelled.tolist() == [0, 2, 1]
