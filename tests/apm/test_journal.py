"""The append-only record of events."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from apm.journal import Entry, Journal, Record, ScoreSummary
from channelcode.capacity import Power, capacity
from channelcode.channels import Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.information import mutual_information
from channelcode.measures import Gaussian

SUMMARY = ScoreSummary(-1.0, 4, 0.5, -3.0, -9.0, 20)


def entry(index: int, label: object = 1, **changes) -> Entry:
    return Entry(index, label, SUMMARY, (0.5, 4.0), 5.0, 0.1)._replace(**changes)


def test_records_keep_order_and_information():
    journal = Journal(Logistic()).plus([entry(3, "a")])
    journal = journal.plus([entry(1, "b", law=(0.0, 9.0), power=None, scores=None)])
    first, second = journal.records()
    assert (first.index, first.label, second.index, second.label) == (3, "a", 1, "b")
    assert first.scores == SUMMARY
    expected = mutual_information(Logistic(), Gaussian(0.5, 4.0)).bits
    assert first.bits == pytest.approx(expected, abs=1e-10)
    most = capacity(Logistic(), Power(5.0)).certificate.upper
    assert first.bound == pytest.approx(most - expected, abs=1e-10)
    assert first.bound >= capacity(Logistic(), Power(5.0)).bits - expected - 1e-12
    assert second.bound is None
    assert journal.answers.labels == {3: "a", 1: "b"}
    assert len(journal) == 2
    assert [record.index for record in journal] == [3, 1]
    assert [record.call for record in journal] == [1, 2]


def test_a_longer_journal_leaves_the_shorter_one_as_it_was():
    short = Journal(Logistic()).plus([entry(3)])
    long = short.plus([entry(1), entry(2)])
    assert len(long.records()) == 3
    assert len(short.records()) == 1
    assert len(short) == 1
    assert [record.call for record in long.records()] == [1, 2, 2]
    assert [record.call for record in short.plus([entry(1), entry(2)], together=False)] == [1, 2, 3]
    assert short.plus([]) is short


def test_reading_in_between_changes_nothing():
    once, often = Journal(Logistic()), Journal(Logistic())
    for place in range(5):
        each = entry(place, law=(0.1 * place, 1.0 + place))
        once = once.plus([each])
        often = often.plus([each])
        often.records()
    assert [r.index for r in once.records()] == [r.index for r in often.records()]
    for a, b in zip(once.records(), often.records()):
        assert a.bits == pytest.approx(b.bits, abs=1e-12)


def test_records_are_frozen_and_rows_are_labelled_once():
    journal = Journal(Logistic()).plus([entry(3)])
    with pytest.raises(dataclasses.FrozenInstanceError):
        journal.records()[0].label = 0  # type: ignore[misc]
    with pytest.raises(InvalidArgument, match="labelled already"):
        journal.plus([entry(3)])


def test_laws_in_several_dimensions():
    law = Gaussian(np.zeros(3), np.eye(3))
    (record,) = Journal(Softmax(3)).plus([entry(0, law=law)]).records()
    # quasi-Monte Carlo
    assert record.bits == pytest.approx(mutual_information(Softmax(3), law).bits, abs=1e-3)


def test_events_without_a_label_have_no_information():
    journal = Journal(Logistic()).plus([Entry(2, event="skip")]).plus([entry(1)])
    skip, told = journal.records()
    assert skip.bits is None
    assert skip.bound is None
    assert skip.sample_weight == 1.0
    assert told.bits is not None
    assert told.bits > 0


def test_taking_back_goes_call_by_call():
    journal = Journal(Logistic()).plus([entry(3)]).plus([entry(1), entry(2)])
    back = journal.undoing()
    assert [(e.event, e.index, e.of) for e in back] == [("undo", 2, 2), ("undo", 1, 2)]
    journal = journal.plus(back)
    assert journal.answers.labels == {3: 1}
    journal = journal.plus(journal.undoing())
    assert journal.answers.labels == {}
    assert journal.undoing() == []
    assert [record.event for record in journal] == ["tell"] * 3 + ["undo"] * 3


def test_plain_lists_and_back():
    journal = Journal(Logistic()).plus([entry(3, "a")])
    journal = journal.plus([entry(1, "b", scores=None, power=None)])
    journal = journal.plus(journal.undoing())
    text = json.dumps(journal.to_list())
    again = Journal.from_list(Logistic(), json.loads(text))
    assert again.records() == journal.records()
    assert again.answers == journal.answers
    assert isinstance(again.records()[0], Record)
    again = again.plus([entry(7)])
    assert len(again.records()) == 4
    assert again.records()[-1].call == 4


def test_the_history_becomes_a_table():
    pytest.importorskip("pandas")
    journal = Journal(Logistic()).plus([entry(3, "a")]).plus([Entry(2, event="skip")])
    frame = journal.records().to_frame()
    assert frame["index"].tolist() == [3, 2]
    assert frame["event"].tolist() == ["tell", "skip"]
    assert frame["score_runner_up"].tolist()[0] == 4
    assert np.isnan(frame["bits"].tolist()[1])
    assert Journal(Logistic()).records().to_frame().shape == (0, 16)


def test_the_bound_comes_from_the_upper_end_of_the_capacity(monkeypatch):
    from importlib import import_module

    class Certificate:
        lower, upper = 0.5, 0.75

    class Fine:
        ok = True

    class Result:
        certificate, status = Certificate(), Fine()

    package = import_module("channelcode.capacity")  # the name alone is the function
    monkeypatch.setattr(package, "capacity", lambda *_, **__: Result())
    (record,) = Journal(Logistic()).plus([entry(3)]).records()
    assert record.bits is not None
    assert record.bound == pytest.approx(0.75 - record.bits, abs=1e-8)  # the integral's error


def test_the_power_of_a_record_is_that_of_its_law():
    """E L^2 = mean^2 + variance, on the line and in R^k."""
    laws = [(-3.0, 0.5), Gaussian(2.0, 1.5)]
    journal = Journal(Logistic()).plus([entry(row, law=law) for row, law in enumerate(laws)])
    assert [record.power for record in journal.records()] == pytest.approx([9.5, 5.5])


@pytest.mark.parametrize("calls", [[1, 3, 3], [1, 2, 1], [2, 2, 2], [1, 1, 4]])
def test_one_wrong_number_of_a_call_is_enough(calls):
    """Calls are numbered 1, 2, ... without a gap: one step that is not so spoils the list."""
    journal = Journal(Logistic()).plus([entry(row) for row in range(3)], together=False)
    rows = journal.to_list()
    for row, call in zip(rows, calls, strict=True):
        row["call"] = call
    with pytest.raises(InvalidArgument, match="number its calls"):
        Journal.from_list(Logistic(), json.loads(json.dumps(rows)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("index", -1),
        ("bits", -1e-6),  # no rounding of an integral: information is not negative
        ("bits", float("inf")),
        ("bound", -0.5),
        ("seconds", -1.0),
        ("seconds", float("nan")),
        ("sample_weight", -2.0),
        ("call", 0),
        ("power", -1e-3),
    ],
)
def test_a_number_that_cannot_be_is_refused(field, value):
    """Every number of a record has its range; a list from a file is not believed beyond it."""
    rows = Journal(Logistic()).plus([entry(3, "a")]).to_list()
    rows[0][field] = value
    with pytest.raises(InvalidArgument, match=f"must have a proper {field} in record"):
        Journal.from_list(Logistic(), rows)
