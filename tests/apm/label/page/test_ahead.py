"""Thinking ahead changes when a pick is known, never which."""

from __future__ import annotations

import threading

import pytest

from apm.label import Answer
from apm.label.page import ahead as module
from apm.label.page.ahead import Ahead
from channelcode.errors import InvalidArgument


@pytest.fixture
def watched():
    """A rule that asks for the number of answers, and what it was asked."""
    asked: list[frozenset] = []

    def choose(answers):
        asked.append(frozenset(answers.items()))
        return len(answers)

    ahead = Ahead(choose)
    yield ahead, asked
    ahead.close()


def following(answers, kinds=("skip", "unsure")):
    return lambda row: [{**answers, row: Answer(kind)} for kind in kinds]


def test_what_was_thought_of_is_not_worked_out_again(watched):
    ahead, asked = watched
    ahead.think_of({}, following({}))
    assert ahead.idle(10)
    assert len(asked) == 3
    assert ahead.pick({}) == 0
    assert ahead.pick({0: Answer("skip")}) == 1
    assert len(asked) == 3
    assert ahead.pick({0: Answer("label", "new")}) == 1
    assert len(asked) == 4


def test_the_order_of_answers_is_one_state(watched):
    ahead, asked = watched
    first = {0: Answer("skip"), 1: Answer("unsure")}
    ahead.pick(first)
    ahead.pick(dict(reversed(first.items())))
    assert len(asked) == 1


def test_few_are_remembered(watched, monkeypatch):
    ahead, asked = watched
    monkeypatch.setattr(module, "REMEMBERED", 3)
    for row in range(6):
        ahead.pick({row: Answer("skip")})
    assert len(ahead._picks) == 3
    ahead.pick({5: Answer("skip")})
    assert len(asked) == 6


def test_an_error_is_given_to_who_asks():
    def choose(answers):
        raise InvalidArgument("answers", "must be others", len(answers))

    ahead = Ahead(choose)
    try:
        ahead.think_of({}, following({}))
        assert ahead.idle(10)
        with pytest.raises(InvalidArgument):
            ahead.pick({})
    finally:
        ahead.close()


def test_one_thread_works_at_a_time():
    inside, most, go = [], [], threading.Event()

    def choose(answers):
        inside.append(1)
        most.append(len(inside))
        go.wait(0.01)
        inside.pop()
        return 0

    ahead = Ahead(choose)
    ahead.think_of({}, lambda row: [{n: Answer("skip")} for n in range(5)])
    askers = [threading.Thread(target=ahead.pick, args=({n: Answer("unsure")},)) for n in range(4)]
    for each in askers:
        each.start()
    for each in askers:
        each.join()
    assert ahead.idle(10)
    ahead.close()
    assert max(most) == 1
    assert not ahead._thread.is_alive()
