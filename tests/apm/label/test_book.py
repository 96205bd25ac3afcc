"""The label file: what others may write into it, what is refused, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.label import Answer, LabelFile, RowNames
from apm.label import book as book_module
from apm.label.book import LabelFileBusy
from apm.label.escaping import as_label
from apm.tables import FileProblem, read_table
from channelcode.errors import InvalidArgument
from tests.apm.label import given as pools

SPAM, HAM = Answer("label", "spam"), Answer("label", "ham")


@pytest.fixture
def pool(tmp_path):
    return pools.numbers(tmp_path)


def holding(pool, content, column=None):
    """A label file with that content."""
    file = pools.label_file(pool, column)
    file.path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


# --- what others may write --------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "row,label\n3,spam\n7,ham\n",
        "row,label\r\n3,spam\r\n7,ham\r\n",
        "row,label\r3,spam\r7,ham",
        "row,label\n3,spam\n7,ham",
        "\ufeffrow,label\n3,spam\n7,ham\n",
        "Row;Label\n3;spam\n7;ham\n",
        "label,comment,row\nspam,a,3\n\nham,'=b,7\n",
        'row,label\n"3"," spam "\n7.0,ham\n',
        "row,label,answer\n3,spam,\n7,ham,label\n",
        "row,label\n3,ham\n7,ham\n3,spam\n",
        "row,label\n9,\n3,spam\n7,ham\n3,\n",
        "row,label,answer\n5,spam,\n5,,open\n3,spam,\n7,ham,LABEL\n",
        "row,label\n3,spam\n7,ham\n".encode("utf-16"),
    ],
)
def test_the_same_answers_in_many_dresses(content, pool):
    file = holding(pool, content)
    assert file.read() == {3: SPAM, 7: HAM}
    file.append([(1, Answer("skip"))])
    expected = {3: SPAM, 7: HAM, 1: Answer("skip")}
    assert file.read() == expected
    assert pools.label_file(pool).read() == expected
    assert not file.moved_aside


def test_columns_of_others_are_kept(pool):
    file = holding(pool, 'label,comment,row\nspam,"\'=a, b",3\n')
    file.append([(7, HAM)])
    lines = file.path.read_text().splitlines()
    assert lines[0] == "label,comment,row,answer,check"
    assert lines[1] == 'spam,"\'=a, b",3,,'
    assert lines[2].startswith("ham,,7,label,")


def test_empty_and_absent(pool):
    assert pools.label_file(pool).read() == {}
    file = holding(pool, "")
    assert file.read() == {}
    file.append([(2, SPAM)])
    assert file.path.read_text().startswith("row,label,answer,check\n2,spam,label,")


def test_a_formula_is_written_so_that_no_spreadsheet_runs_it(pool):
    file = pools.label_file(pool)
    names = ["=cmd()", "+1+1", "-x", "@a", "'=b", "''", "-1", "=", "a=b", '"', "a,b", "é"]
    file.append([(row, Answer("label", name)) for row, name in enumerate(names)])
    for line in file.path.read_text().splitlines()[1:]:
        cell = line.split(",")[1].lstrip('"')
        assert not cell.startswith(("=", "+", "@")), line
    assert [answer.label for answer in pools.label_file(pool).read().values()] == names


labels = st.text(min_size=1, max_size=12).map(lambda text: as_label(text) or "x")
kinds = st.one_of(
    labels.map(lambda name: Answer("label", name)),
    st.sampled_from([Answer("skip"), Answer("unsure"), None]),
)
histories = st.lists(st.tuples(st.integers(0, 19), kinds), max_size=12)


@given(histories)
@settings(max_examples=50)
def test_what_is_appended_is_read(tmp_path_factory, history):
    file = pools.label_file(pools.numbers(tmp_path_factory.mktemp("book")))
    expected = {}
    for row, answer in history:
        file.append([(row, answer)])
        expected.pop(row, None)
        if answer is not None:
            expected[row] = answer
    again = LabelFile(file.path, file.rows).read()
    assert list(again.items()) == list(expected.items())
    assert file.read() == again


def test_rows_by_name(tmp_path):
    pool = pools.reviews(tmp_path)
    file = holding(pool, "sku,label\ns-3,spam\ns-7,ham\n", "sku")
    assert file.read() == {3: SPAM, 7: HAM}
    file.append([(9, SPAM)])
    assert file.path.read_text().splitlines()[-1] == "s-9,spam,label,"
    # rows may move, for they are known by name
    lines = pool.read_text().splitlines()
    pool.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    moved = pools.label_file(pool, "sku")
    assert moved.read() == {26: SPAM, 22: HAM, 20: SPAM}


def test_names_must_be_there_and_differ(tmp_path):
    path = tmp_path / "pool.csv"
    for content, place in (("a,x\nq,1\nq,2\n", "line 3"), ("a,x\nq,1\n,2\n", "line 3")):
        path.write_text(content)
        with pytest.raises(FileProblem, match=f"{place}, column 'a'"):
            RowNames(read_table(path), "a")
    with pytest.raises(InvalidArgument, match="must be a column"):
        RowNames(read_table(path), "b")


def test_a_pool_whose_rows_moved_is_noticed(pool):
    file = pools.label_file(pool)
    file.append([(3, SPAM)])
    lines = pool.read_text().splitlines()
    more = "\n".join([*lines, "1,2,3"]) + "\n"
    pool.write_text(more)  # rows may be added at the end
    assert pools.label_file(pool).read() == {3: SPAM}
    pool.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    with pytest.raises(FileProblem, match=r"line 2, column 'check'.*the pool has changed"):
        pools.label_file(pool).read()


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("3,spam\n7,ham\n", "line 1"),
        ("id,label\n3,spam\n", "line 1: must have a column 'row'"),
        ("row,class\n3,spam\n", "line 1: must have a column 'label'"),
        ("row,label,Label\n3,a,b\n", "line 1, column 'label'"),
        ("row,label\n3,spam\n20,ham\n", "line 3, column 'row': must be a row number in 0..19"),
        ("row,label\n-1,ham\n", "line 2, column 'row'"),
        ("row,label\nx,ham\n", "line 2, column 'row'"),
        ("row,label\n1.5,ham\n", "line 2, column 'row'"),
        ("row,label\n,ham\n", "line 2, column 'row'"),
        ("row,label\n3\n7,ham\n", "line 2"),
        ("row,label\n3,spam,x\n", "line 2"),
        ("row,label,answer\n3,spam,perhaps\n", "line 2, column 'answer'"),
        ("row,label,answer\n3,spam,skip\n", "line 2, column 'label'"),
        ("row,label,answer\n3,,label\n", "line 2, column 'label'"),
        ('row,label\n3,"a\nb"\n', "line 3, column 'label'"),
        ("row,label\n3,a\x1b[31m\n", "line 2, column 'label'"),
        ('row,label\n3,"spam\n', "line 2"),
        ("row,label\n3,sp\0am\n", "line 2"),
        ("row,label,check\n3,spam,aaaaaaaa\n", "line 2, column 'check'"),
        ("row,label\n3," + "x" * 501 + "\n", "line 2, column 'label'"),
    ],
)
def test_faults_are_placed(content, place, pool):
    file = holding(pool, content)
    with pytest.raises(FileProblem, match=r"labels\.csv") as found:
        file.read()
    assert place in str(found.value)
    assert "\x1b" not in str(found.value)
    with pytest.raises(FileProblem):
        file.append([(1, SPAM)])
    assert file.path.read_bytes() == content.encode()  # untouched


def test_places_that_are_no_label_file(pool, tmp_path):
    for name in ("labels.xlsx", "labels.jsonl"):
        with pytest.raises(InvalidArgument, match="must be a CSV file"):
            pools.label_file(pool, name=name)
    with pytest.raises(InvalidArgument, match="the pool itself"):
        pools.label_file(pool, name="pool.csv")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("folder.csv", "pipe.csv"):
        with pytest.raises(InvalidArgument, match="must be a file"):
            pools.label_file(pool, name=name)
    file = LabelFile(tmp_path / "gone" / "labels.csv", RowNames(read_table(pool)))
    with pytest.raises(OSError, match="gone"):
        file.append([(1, SPAM)])


@pytest.mark.parametrize("label", ["", " a", "a\n", "a\x00", "\x1b[1m", "a" * 501, "\ud800"])
def test_labels_that_are_none(label, pool):
    file = pools.label_file(pool)
    with pytest.raises(InvalidArgument, match="one line of text"):
        file.append([(1, SPAM), (2, Answer("label", label))])
    assert not file.path.exists()


# --- what a crash leaves ----------------------------------------------------------------------


@pytest.mark.parametrize("start", ["", "row,label\n0,old\n"], ids=["ours", "of others"])
def test_every_truncation_keeps_what_was_acknowledged_before(start, pool):
    """Cut anywhere in the last line: the lines before count, the torn one never half."""
    file = holding(pool, start) if start else pools.label_file(pool)
    file.append([(3, SPAM)])
    before = file.read()
    kept = file.path.stat().st_size
    file.append([(7, Answer("label", "spam, lots"))])
    whole, after = file.path.read_bytes(), file.read()
    for end in range(kept, len(whole)):
        file.path.write_bytes(whole[:end])
        fresh = LabelFile(file.path, file.rows)
        found = fresh.read()
        assert found in (before, after), whole[kept:end]
        torn = fresh.torn
        assert (found == before) == (bool(torn) or end == kept)
        assert file.path.read_bytes() == whole[:end]  # reading repairs nothing
        fresh.append([(9, HAM)])
        assert LabelFile(file.path, file.rows).read() == {**found, 9: HAM}
        assert [side.read_bytes() for side in fresh.moved_aside] == ([torn] if torn else [])
        for side in fresh.moved_aside:
            side.unlink()


def test_a_disk_that_fails_leaves_nothing_behind(pool, monkeypatch):
    file = pools.label_file(pool)
    file.append([(3, SPAM)])
    before = file.path.read_bytes()
    real = os.fsync

    def failing(handle):
        monkeypatch.setattr(book_module.os, "fsync", real)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(book_module.os, "fsync", failing)
    with pytest.raises(OSError, match=r"labels\.csv"):
        file.append([(7, HAM)])
    assert file.path.read_bytes() == before
    assert file.read() == {3: SPAM}
    file.append([(7, HAM)])
    assert pools.label_file(pool).read() == {3: SPAM, 7: HAM}


def test_labels_are_flushed_before_they_count(pool, monkeypatch):
    file = pools.label_file(pool)
    file.append([(3, SPAM)])
    flushed = []
    real = os.fsync
    monkeypatch.setattr(book_module.os, "fsync", lambda handle: flushed.append(real(handle)))
    file.append([(7, HAM)])
    assert flushed


TELLER = """
import sys
from tests.apm.label import given as pools
from apm.label import Answer
from pathlib import Path
file = pools.label_file(Path(sys.argv[1]))
for turn in range(100_000):
    file.append([(turn % 20, Answer("label", f"class {turn}"))])
    sys.stdout.write(f"{turn}\\n")
    sys.stdout.flush()
"""


@pytest.mark.parametrize("wanted", [1, 7, 40])
def test_killed_at_any_moment(wanted, pool):
    """After SIGKILL all acknowledged labels are there, and at most one more."""
    command = [sys.executable, "-c", TELLER, str(pool)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as teller:
        assert teller.stdout is not None
        said = [teller.stdout.readline() for _ in range(wanted)]
        teller.send_signal(signal.SIGKILL)
        said += teller.stdout.readlines()
    last = int([line for line in said if line.endswith("\n")][-1])
    found = pools.label_file(pool).read()
    turns = [int(answer.label.split()[1]) for answer in found.values()]
    assert max(turns) in (last, last + 1)
    for row in range(20):
        expected = max((turn for turn in range(last + 1) if turn % 20 == row), default=None)
        if expected is not None:
            assert found[row].label in (f"class {expected}", f"class {max(turns)}")


def test_many_writers_lose_nothing(pool):
    """Threads, each with a label file of its own, as processes would have."""

    def write(first):
        file = pools.label_file(pool)
        for row in range(first, 20, 4):
            file.append([(row, Answer("label", f"of {first}"))])

    writers = [threading.Thread(target=write, args=(first,)) for first in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    found = pools.label_file(pool).read()
    assert sorted(found) == list(range(20))
    assert all(answer.label == f"of {row % 4}" for row, answer in found.items())


def test_a_file_that_is_in_use(pool, monkeypatch):
    file = pools.label_file(pool)
    file.append([(1, SPAM)])
    monkeypatch.setattr(book_module, "PATIENCE", 0.05)
    with file._locked(), pytest.raises(LabelFileBusy, match="in use"):
        pools.label_file(pool).append([(2, HAM)])
    assert pools.label_file(pool).read() == {1: SPAM}


def test_an_edit_by_another_program_is_seen(pool):
    file = pools.label_file(pool)
    file.append([(1, SPAM)])
    file.path.write_text("row,label\n4,ham\n")  # as a spreadsheet would
    assert file.read() == {4: HAM}
    file.append([(1, SPAM)])
    assert file.read() == {4: HAM, 1: SPAM}
