"""The journal file in peace; damage is in tests/torture."""

from __future__ import annotations

import pytest

from apm.storage import JournalFile
from apm.storage.lines import JournalError
from channelcode.errors import InvalidArgument

ABOUT = {"pool": "ab", "rows": 3, "columns": None}


def test_numbers_text_and_order_survive(tmp_path):
    events = [
        {"label": value} for value in (1, 2.5, -0.0, True, None, "é\n", 10**30, [1, {"a": 2}])
    ]
    with JournalFile(tmp_path / "a.jsonl", ABOUT) as journal:
        assert [journal.append(event) for event in events] == list(range(1, 9))
        assert list(journal.events) == events
    with JournalFile(tmp_path / "a.jsonl", ABOUT) as journal:
        assert list(journal.events) == events
        assert [type(e["label"]) for e in journal.events] == [type(e["label"]) for e in events]
        assert len(journal) == 8
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines()
    assert len(lines) == 9


@pytest.mark.parametrize("event", [{"label": float("nan")}, {"label": {1}}, {"label": b"a"}])
def test_what_is_not_plain_is_refused_and_nothing_is_written(event, tmp_path):
    with JournalFile(tmp_path / "a.jsonl", ABOUT) as journal:
        before = (tmp_path / "a.jsonl").read_bytes()
        with pytest.raises(InvalidArgument, match="event must be plain JSON"):
            journal.append(event)
        assert (tmp_path / "a.jsonl").read_bytes() == before
        journal.append({"label": 1})


def test_the_callers_event_may_change_later(tmp_path):
    event = {"rows": [1]}
    with JournalFile(tmp_path / "a.jsonl", ABOUT) as journal:
        journal.append(event)
        event["rows"].append(2)
        assert journal.events == ({"rows": [1]},)


def test_a_closed_file_says_so(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", ABOUT)
    journal.close()
    journal.close()
    assert "closed" in repr(journal)
    with pytest.raises(JournalError, match="closed"):
        journal.append({})


def test_a_file_changed_by_another_program_is_noticed(tmp_path):
    with JournalFile(tmp_path / "a.jsonl", ABOUT) as journal:
        with open(tmp_path / "a.jsonl", "ab") as file:
            file.write(b"x")
        with pytest.raises(JournalError, match="changed by another program"):
            journal.append({})
