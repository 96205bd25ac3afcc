"""The journal file: every truncation, every flipped bit, kills, full disks, other pools."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from apm.storage import JournalFile, JournalRepaired
from apm.storage.lines import JournalError
from tests.torture.cases import learner, pool

ABOUT = {"pool": "0123", "rows": 4}
EVENTS = [{"event": "tell", "rows": [row], "labels": ["é\n\0"]} for row in range(3)]


def written(path: Path) -> bytes:
    with JournalFile(path, ABOUT) as journal:
        for event in EVENTS:
            journal.append(event)
    return path.read_bytes()


def opened(path: Path) -> tuple[list[dict[str, Any]], bool]:
    """The events, and whether the end was repaired."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with JournalFile(path, ABOUT) as journal:
            return list(journal.events), any(w.category is JournalRepaired for w in seen)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_truncations_keep_the_whole_lines_and_put_the_rest_aside(step, tmp_path):
    path = tmp_path / "labels.jsonl"
    content = written(path)
    header = content.index(b"\n") + 1
    ends = [place for place in range(header, len(content)) if content[place] == 10]
    for length in sorted({*range(header, len(content), step), *ends}):
        path.write_bytes(content[:length])
        events, repaired = opened(path)
        whole = content[:length].count(b"\n") - 1
        side = tmp_path / "labels.jsonl.tail-1"
        if content[length : length + 1] == b"\n":  # all but the end of the line: nothing is lost
            assert (events, repaired) == (EVENTS[: whole + 1], False)
        else:
            assert events == EVENTS[:whole]
            tail = content[:length].rpartition(b"\n")[2]
            assert repaired == bool(tail) == side.exists()
            assert not tail or side.read_bytes() == tail
        assert opened(path) == (events, False)  # repaired once
        side.unlink(missing_ok=True)
    for length in {*range(0, header, step), header - 1}:  # also all but the end of the first line
        path.write_bytes(content[:length])
        with pytest.raises(JournalError, match="not a journal"):
            JournalFile(path, ABOUT)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_single_bit_flips_are_refused(step, tmp_path):
    path = tmp_path / "labels.jsonl"
    content = written(path)
    for bit in range(0, 8 * len(content), step):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(JournalError):
            JournalFile(path, ABOUT)
        assert path.read_bytes() == bytes(damaged)  # left for the user to look at


def test_lines_moved_repeated_or_taken_out_are_refused(tmp_path):
    path = tmp_path / "labels.jsonl"
    header, *lines = written(path).splitlines(keepends=True)
    for order in ((1, 0, 2), (0, 0, 1, 2), (0, 2), (1, 2), (2,)):
        path.write_bytes(header + b"".join(lines[place] for place in order))
        with pytest.raises(JournalError, match="damaged in line"):
            JournalFile(path, ABOUT)


def test_a_damaged_last_line_is_put_aside_on_request_only(tmp_path):
    path = tmp_path / "labels.jsonl"
    content = written(path)
    path.write_bytes(content[:-5] + b"0" + content[-4:])
    with pytest.raises(JournalError, match="repair=True"):
        JournalFile(path, ABOUT)
    with pytest.warns(JournalRepaired, match="tail-1"):
        journal = JournalFile(path, ABOUT, repair=True)
    with journal:
        assert list(journal.events) == EVENTS[:2]
        journal.append(EVENTS[2])
    assert path.read_bytes() == content


def test_a_newer_schema_and_another_pool_are_refused(tmp_path):
    path = tmp_path / "labels.jsonl"
    content = written(path)
    with pytest.raises(JournalError, match="another pool: '0123', not '4567'"):
        JournalFile(path, {**ABOUT, "pool": "4567"})
    header, _, rest = content.partition(b"\n")
    newer = json.loads(header)
    newer["event"]["schema"] = 2
    path.write_bytes(json.dumps(newer).encode() + b"\n" + rest)
    with pytest.raises(JournalError, match="newer"):
        JournalFile(path, ABOUT)


def test_a_learner_of_another_pool_is_refused(tmp_path):
    held = learner(4)
    held.record_to(tmp_path / "labels.jsonl")
    held.stop_recording()
    with pytest.raises(JournalError, match="another pool"):
        learner(5).record_to(tmp_path / "labels.jsonl")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_label_that_the_disk_refuses_is_not_acknowledged(code, tmp_path, monkeypatch):
    held = learner()
    path = tmp_path / "labels.jsonl"
    held.record_to(path)
    held.tell(0, "no")
    content = path.read_bytes()
    before = held.history

    def fails(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr("apm.storage.lines.os.fsync", fails)
        with pytest.raises(OSError, match=r"labels\.jsonl"):
            held.tell(1, "yes")
    assert held.history == before
    assert held.labelled.tolist() == [0]
    assert path.read_bytes() == content
    held.stop_recording()
    again = learner()
    assert again.record_to(path) == 1
    again.tell(1, "yes")
    again.stop_recording()


def test_a_label_is_on_the_disk_before_it_counts(tmp_path, monkeypatch):
    held = learner()
    held.record_to(tmp_path / "labels.jsonl")
    seen = []
    flush = os.fsync

    def watched(handle: int) -> None:
        seen.append(
            (held.labelled.tolist(), b'"rows": [1]' in (tmp_path / "labels.jsonl").read_bytes())
        )
        flush(handle)

    monkeypatch.setattr("apm.storage.lines.os.fsync", watched)
    held.tell(1, "yes")
    assert seen == [([], True)]  # flushed once, after the line was written, before it counted
    held.stop_recording()


@pytest.mark.parametrize("torn", ["newline", "half"])
def test_repairs_are_on_the_disk_before_anything_else(tmp_path, monkeypatch, torn):
    """The missing end of a line, and the cut of a torn one, are flushed before the file is used."""
    held, path = learner(), tmp_path / "labels.jsonl"
    held.record_to(path)
    held.tell(0, "no")
    whole = path.read_bytes()
    held.tell(1, "yes")
    held.stop_recording()
    content = path.read_bytes()
    damaged = content[:-1] if torn == "newline" else content[: len(whole) + 20]
    path.write_bytes(damaged)
    flush, flushed = os.fsync, []

    def watched(handle: int) -> None:
        flush(handle)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            flushed.append(path.read_bytes())

    monkeypatch.setattr(os, "fsync", watched)
    again = learner()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JournalRepaired)
        again.record_to(path)
    assert flushed == [content if torn == "newline" else whole]
    again.stop_recording()


def test_a_label_that_failed_is_cut_off_on_the_disk(tmp_path, monkeypatch):
    held, path = learner(), tmp_path / "labels.jsonl"
    held.record_to(path)
    held.tell(0, "no")
    content, calls = path.read_bytes(), []

    def fails_once(handle: int) -> None:
        calls.append(path.read_bytes())
        if len(calls) == 1:
            raise OSError(errno.EIO, "no")

    monkeypatch.setattr("apm.storage.lines.os.fsync", fails_once)
    with pytest.raises(OSError, match="no"):
        held.tell(1, "yes")
    # once with the line, and once more without it
    assert [len(each) > len(content) for each in calls] == [True, False]
    assert calls[-1] == content
    held.stop_recording()


LABELLER = """
import sys
from tests.torture.cases import learner
held = learner(400)
held.record_to(sys.argv[1])
for row in range(400):
    if row not in held.labelled:
        held.tell(row, row % 2)
        print(row, flush=True)
"""


def test_killed_labellers_lose_no_acknowledged_label(tmp_path):
    path = tmp_path / "labels.jsonl"
    acknowledged: list[int] = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", LABELLER, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        assert process.stdout is not None
        for _ in range(12):
            line = process.stdout.readline()
            acknowledged.append(int(line))
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().split() if line.isdigit()]
        process.stdout.close()
        process.wait()
    held = learner(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held.record_to(path)
    told = held.labelled.tolist()
    assert set(acknowledged) <= set(told)
    assert len(told) <= len(acknowledged) + 2  # at most one written and not yet acknowledged a kill
    assert held.belief.posterior.num_observations == len(told)
    held.stop_recording()


HOLDER = """
import sys, time
from tests.torture.cases import learner
held = learner()
held.record_to(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_and_a_dead_one_is_in_nobodys_way(tmp_path):
    path = tmp_path / "labels.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    held = learner()
    with pytest.raises(JournalError, match="in use"):
        held.record_to(path)
    process.kill()
    process.wait()
    process.stdout.close()
    held.record_to(path)
    held.stop_recording()


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_file_is_refused_at_once(kind, tmp_path):
    path = tmp_path / "labels.jsonl"
    if kind == "link":
        written(tmp_path / "other.jsonl")
        path.symlink_to(tmp_path / "other.jsonl")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises((OSError, ValueError), match=r"labels\.jsonl"):
        JournalFile(path, ABOUT)


def test_a_journal_that_contradicts_the_learner_is_refused_and_nothing_is_kept(tmp_path):
    path = tmp_path / "labels.jsonl"
    held = learner()
    held.record_to(path)
    held.tell([0, 2], ["no", "yes"])
    held.stop_recording()
    other = learner()
    other.tell([0, 2], ["yes", "yes"])
    with pytest.raises(JournalError, match="differ from call 1 on"):
        other.record_to(path)
    assert other.labelled.tolist() == [0, 2]
    other.tell(1, "no")  # not recorded anywhere, and still at work


@pytest.mark.parametrize(
    "event",
    [
        {"event": "tell", "rows": [0]},
        {"event": "tell", "rows": [0, 1], "labels": ["no"]},
        {"event": "tell", "rows": [9], "labels": ["no"]},
        {"event": "tell", "rows": [-1], "labels": ["no"]},
        {"event": "tell", "rows": [0], "labels": [None]},
        {"event": "tell", "rows": [0], "labels": [["no"]]},
        {"event": "tell", "rows": [0], "labels": ["no"], "weights": [-1]},
        {"event": "tell", "rows": [], "labels": []},
        {"event": "correct", "rows": [0], "labels": ["no"]},
        {"event": "unskip", "rows": [0]},
        {"event": "explode"},
        {"rows": [0]},
        {"event": "extend", "rows": 2, "pool": "00"},
    ],
    ids=repr,
)
def test_an_event_that_cannot_have_happened_is_refused(event, tmp_path):
    path = tmp_path / "labels.jsonl"
    held = learner()
    held.record_to(path)
    about = json.loads(path.read_bytes())["event"]
    held.stop_recording()
    with JournalFile(path, {key: about[key] for key in ("pool", "rows", "columns")}) as journal:
        journal.append({"event": "skip", "rows": [3]})
        journal.append(event)
    with pytest.raises(ValueError):  # one of the library's own, all of which are ValueErrors
        held.record_to(path, more_rows=pool(2) if event.get("event") == "extend" else None)
    assert held.skipped.tolist() == []
    assert len(held.history) == 0
