"""What a sequence of events amounts to."""

from __future__ import annotations

import pytest

from apm.journal import Entry
from apm.storage.answers import Answer, Answers, last_call, replayed
from channelcode.errors import InvalidArgument


def event(kind: str, row: int, label: object = None, *, call: int = 0, of: int | None = None):
    return Entry(row, label, event=kind, call=call, of=of)


def test_a_correction_stands_where_the_first_answer_stood():
    told = [event("tell", 0, "a"), event("tell", 1, "b"), event("repeat", 0, "b")]
    answers = replayed([*told, event("correct", 0, "c")])
    assert answers.answers == (Answer(0, "c", 1.0), Answer(1, "b", 1.0))
    assert answers.labels == {0: "c", 1: "b"}


def test_a_label_ends_a_skip_and_an_abstention():
    answers = replayed([event("skip", 0), event("abstain", 1), event("skip", 1)])
    assert answers.is_closed() == {0, 1}
    answers = answers.after([event("tell", 0, "a"), event("tell", 1, "a")])
    assert answers.skipped == answers.abstained == frozenset()
    assert Answers().after([]) == Answers()


def test_calls_taken_back_count_for_nothing():
    entries = [
        event("tell", 0, "a", call=1),
        event("skip", 1, call=2),
        event("undo", 1, call=3, of=2),
        event("undo", 0, "a", call=4, of=1),
        event("tell", 0, "b", call=5),
    ]
    assert replayed(entries).labels == {0: "b"}
    assert replayed(entries[:4]) == Answers()
    assert [last_call(entries[:n]) for n in range(6)] == [None, 1, 2, 1, None, 5]


@pytest.mark.parametrize(
    "events",
    [
        [event("tell", 0, "a"), event("tell", 0, "a")],
        [event("correct", 0, "a")],
        [event("unskip", 0)],
    ],
)
def test_what_cannot_have_happened_is_refused(events):
    with pytest.raises(InvalidArgument, match="index must"):
        replayed(events)
