"""The desk: one answer for one item, on the disk before it counts, the same items as the file."""

from __future__ import annotations

import threading

import pytest

from apm.label import Answer, Session
from apm.label.page import Desk, Stale
from apm.tables import features_of, read_table
from channelcode.errors import InvalidArgument
from tests.apm.label import given as pools


@pytest.fixture
def pool(tmp_path):
    return pools.numbers(tmp_path, rows=30)


@pytest.fixture
def desks(pool):
    made = []

    def make(**options):
        session = Session(features_of(read_table(pool)).matrix, classes=["no", "yes"])
        made.append(Desk(pools.label_file(pool), session, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def answer(desk, kind="label", label="yes"):
    state = desk.state()
    desk.answer(state["item"]["row"], kind, label, state["turn"])
    return state["item"]["row"]


def test_items_are_those_of_apm_ask(pool, desks):
    """With and without the time to think ahead: the same picks."""
    desk = desks()
    told = {}
    for turn in range(8):
        if turn % 2:
            assert desk.ahead.idle(60)
        expected = Session(features_of(read_table(pool)).matrix, classes=["no", "yes"]).ask(told)
        kind, label = [("label", "yes"), ("label", "no"), ("skip", ""), ("unsure", "")][turn % 4]
        row = answer(desk, kind, label)
        assert [row] == expected
        told[row] = Answer(kind, label)
        assert pools.label_file(pool).read() == told  # before the next item is asked for


def test_a_new_start_offers_the_same_item(desks):
    first = desks()
    for _ in range(3):
        answer(first)
    assert desks().state()["item"]["row"] == first.state()["item"]["row"]


def test_undo_goes_back_item_by_item(pool, desks):
    desk = desks()
    rows = [answer(desk, kind) for kind in ("label", "skip", "label", "unsure")]
    for row in reversed(rows):
        assert desk.state()["undo"] == row
        desk.undo(desk.state()["turn"])
        assert desk.state()["item"]["row"] == row
    assert desk.state()["undo"] is None
    desk.undo(desk.state()["turn"])  # nothing to take back
    assert pools.label_file(pool).read() == {}
    answer(desk)
    assert desks().state()["undo"] == rows[0]  # also after a new start


def test_a_second_key_labels_nothing(pool, desks):
    desk = desks()
    state = desk.state()
    desk.answer(state["item"]["row"], "label", "yes", state["turn"])
    with pytest.raises(Stale):
        desk.answer(state["item"]["row"], "label", "yes", state["turn"])
    with pytest.raises(Stale):
        desk.answer(desk.state()["item"]["row"], "label", "no", state["turn"])
    with pytest.raises(Stale):
        desk.undo(state["turn"])
    assert len(pools.label_file(pool).read()) == 1


def test_a_turn_of_an_earlier_start_is_stale(desks):
    state = desks().state()
    with pytest.raises(Stale):
        desks().answer(state["item"]["row"], "label", "yes", state["turn"])


def test_many_tabs_at_once(pool, desks):
    """Each turn is answered once, whoever is first."""
    desk, won = desks(), []

    def tab(name):
        for _ in range(10):
            state = desk.state()
            try:
                desk.answer(state["item"]["row"], "label", name, state["turn"])
            except Stale:
                continue
            won.append((state["item"]["row"], name))

    tabs = [threading.Thread(target=tab, args=(name,)) for name in ("no", "yes")]
    for each in tabs:
        each.start()
    for each in tabs:
        each.join()
    found = pools.label_file(pool).read()
    assert len({row for row, _ in won}) == len(won) == len(found)
    assert all(found[row].label == name for row, name in won)


@pytest.mark.parametrize(
    ("row", "kind", "label", "error"),
    [
        (None, "label", "yes", Stale), ("0", "label", "yes", Stale), (True, "skip", "", Stale),
        (99, "skip", "", Stale), ("ROW", "open", "", InvalidArgument),
        ("ROW", None, "", InvalidArgument), ("ROW", "label", "", InvalidArgument),
        ("ROW", "label", None, InvalidArgument), ("ROW", "label", "a\nb", InvalidArgument),
        ("ROW", "label", "\x1b[1m", InvalidArgument), ("ROW", "label", "x" * 501, InvalidArgument),
        ("ROW", "label", ["a"], InvalidArgument),
    ],
)  # fmt: skip
def test_what_is_no_answer(row, kind, label, error, pool, desks):
    desk = desks()
    state = desk.state()
    with pytest.raises(error):
        desk.answer(state["item"]["row"] if row == "ROW" else row, kind, label, state["turn"])
    assert not pool.with_name("labels.csv").exists()
    assert desk.state() == state


def test_other_programs_are_seen(pool, desks):
    desk = desks()
    before = desk.state()
    pools.label_file(pool).append([(before["item"]["row"], Answer("label", "perhaps"))])
    with pytest.raises(Stale):
        desk.answer(before["item"]["row"], "label", "yes", before["turn"])
    after = desk.state()
    assert after["item"]["row"] != before["item"]["row"]
    assert after["classes"] == ["no", "yes", "perhaps"]


def test_the_end(desks):
    desk = desks()
    for _ in range(30):
        answer(desk, "skip", "")
    state = desk.state()
    assert state["item"] is None
    assert (state["skipped"], state["rows"]) == (30, 30)
    with pytest.raises(Stale):
        desk.answer(None, "skip", "", state["turn"])


def test_reasons_and_progress(desks):
    desk = desks()
    assert desk.progress() == {"labels": [], "accuracy": [], "advice": []}
    for label in ("yes", "no", "yes"):
        answer(desk, "label", label)
    state = desk.state()
    lines = desk.explain(state["item"]["row"], state["turn"])
    assert f"candidate {state['item']['row']}" in lines[0]
    assert "rank 1" in lines[0]
    with pytest.raises(Stale):
        desk.explain(state["item"]["row"] + 1, state["turn"])
    found = desk.progress()
    assert found["labels"][-1] == 3
    assert "after 3 labels" in found["advice"][0]
    assert desk.progress() is found
