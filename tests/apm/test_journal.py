"""The append-only record of labels."""

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
    return dataclasses.replace(Entry(index, label, SUMMARY, (0.5, 4.0), 5.0, 0.1), **changes)


def test_records_keep_order_and_information():
    journal = Journal(Logistic())
    journal.add(entry(3, "a"))
    journal.add(entry(1, "b", law=(0.0, 9.0), power=None, scores=None))
    first, second = journal.records()
    assert (first.index, first.label, second.index, second.label) == (3, "a", 1, "b")
    assert first.scores == SUMMARY
    expected = mutual_information(Logistic(), Gaussian(0.5, 4.0)).bits
    assert first.bits == pytest.approx(expected, abs=1e-10)
    most = capacity(Logistic(), Power(5.0)).bits
    assert first.bound == pytest.approx(most - expected, abs=1e-10)
    assert second.bound is None
    assert journal.indices == [3, 1]
    assert journal.labels == ["a", "b"]
    assert len(journal) == 2
    assert 3 in journal
    assert 2 not in journal
    assert [record.index for record in journal] == [3, 1]


def test_reading_in_between_changes_nothing():
    once, often = Journal(Logistic()), Journal(Logistic())
    for place in range(5):
        each = entry(place, law=(0.1 * place, 1.0 + place))
        once.add(each)
        often.add(each)
        often.records()
    assert [r.index for r in once.records()] == [r.index for r in often.records()]
    for a, b in zip(once.records(), often.records()):
        assert a.bits == pytest.approx(b.bits, abs=1e-12)


def test_records_are_frozen_and_rows_are_labelled_once():
    journal = Journal(Logistic())
    journal.add(entry(3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        journal.records()[0].label = 0  # type: ignore[misc]
    with pytest.raises(InvalidArgument, match="labelled already"):
        journal.add(entry(3))
    with pytest.raises(InvalidArgument, match="labelled row"):
        journal.label(5)


def test_laws_in_several_dimensions():
    law = Gaussian(np.zeros(3), np.eye(3))
    journal = Journal(Softmax(3))
    journal.add(entry(0, law=law))
    (record,) = journal.records()
    # quasi-Monte Carlo
    assert record.bits == pytest.approx(mutual_information(Softmax(3), law).bits, abs=1e-3)


def test_plain_lists_and_back():
    journal = Journal(Logistic())
    journal.add(entry(3, "a"))
    journal.add(entry(1, "b", scores=None, power=None))
    text = json.dumps(journal.to_list())
    again = Journal.from_list(Logistic(), json.loads(text))
    assert again.records() == journal.records()
    assert isinstance(again.records()[0], Record)
    again.add(entry(7))
    assert len(again.records()) == 3
