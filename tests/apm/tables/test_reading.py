"""Tables from files of every kind, and what is refused, by file, line and column."""

from __future__ import annotations

import csv
import io
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.tables import FileProblem, read_table
from apm.tables import remembered as memory
from channelcode.errors import InvalidArgument


def table(folder, content, name="pool.csv", **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


def kinds(found):
    return {column.name: column.kind for column in found.columns}


# --- what is read -----------------------------------------------------------------------------


def test_columns_are_typed(tmp_path):
    rows = "".join(f"{i},{i / 2},{'rb'[i % 2]},some words of row {i},f{i}.png\n" for i in range(8))
    found = table(tmp_path, "count,half,colour,said,file\n" + rows)
    assert kinds(found) == {
        "count": "number", "half": "number", "colour": "category", "said": "text", "file": "aside",
    }  # fmt: skip
    assert found.row(3) == {
        "count": 3, "half": 1.5, "colour": "b", "said": "some words of row 3", "file": "f3.png",
    }  # fmt: skip


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "NaN", "nan", "null", "None", "?", " "])
def test_missing_cells(cell, tmp_path):
    found = table(tmp_path, f"a,b\n1,x\n{cell},{cell}\n3,x\n")
    assert found.row(1) == {"a": None, "b": None}
    assert kinds(found)["a"] == "number"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n2,x\n", "pool.csv"),
        ("a,b\n1,é\n2,x\n".encode("utf-16"), "pool.csv"),
        ("a,b\n1,é\n2,x\n".encode("utf-32"), "pool.csv"),
        ("a,b\n1,é\n2,x\n".encode("cp1252"), "pool.csv"),
        ("a,b\r\n1,é\r\n2,x\r\n".encode(), "pool.csv"),
        ("a,b\r1,é\r2,x\r".encode(), "pool.csv"),
        ("a;b\n1;é\n2;x\n".encode(), "pool.csv"),
        ("a\tb\n1\té\n2\tx".encode(), "pool.tsv"),
        ("\n\na,b\n\n1,é\n\n2,x\n\n".encode(), "pool.csv"),
        ('"a","b"\n"1","é"\n"2","x"\n'.encode(), "pool.txt"),
        ('{"a": 1, "b": "é"}\n\n{"b": "x", "a": 2}\n'.encode(), "pool.jsonl"),
    ],
    ids=["bom", "16", "32", "1252", "crlf", "cr", "semicolon", "tsv", "blank", "quoted", "jsonl"],
)  # fmt: skip
def test_the_same_table_in_many_dresses(content, name, tmp_path):
    found = table(tmp_path, content, name)
    assert [found.row(i) for i in range(len(found))] == [{"a": 1, "b": "é"}, {"a": 2, "b": "x"}]


def test_a_guessed_encoding_is_said_and_can_be_named(tmp_path):
    content = "a,b\n1,Привет\n2,x\n".encode("cp1251")
    found = table(tmp_path, content)
    assert "line 2" in found.notes[0]
    assert "cp1252" in found.notes[0]
    found = table(tmp_path, content, encoding="cp1251")
    assert (found.row(0)["b"], found.notes) == ("Привет", ())


def test_decimal_commas_beside_semicolons(tmp_path):
    found = table(tmp_path, "a;b\n1,5;x\n-2,25;y\n")
    assert [found.row(i)["a"] for i in range(2)] == [1.5, -2.25]


def test_cells_may_hold_separators_quotes_and_ends_of_lines(tmp_path):
    found = table(tmp_path, 'a,b\n1,"x, ""y""\nz"\n2,w\n')
    assert found.row(0)["b"] == 'x, "y"\nz'
    assert (found.line(0), found.line(1)) == (3, 4)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
def test_plain_numbers_are_read_exactly_either_way(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("numbers")
    text = "x,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows)
    fast = table(folder, text)
    slow = table(folder, text.replace("x,y", '"x",y'))  # a quote: the careful way
    assert fast.matrix is not None
    assert slow.matrix is None
    for row, pair in enumerate(rows):
        assert tuple(fast.row(row).values()) == tuple(slow.row(row).values()) == pair
        assert fast.digest(row) == slow.digest(row)


def _is_finite(text):
    """Whether it is no infinite number, which is refused if its column has nothing but numbers."""
    try:
        return not np.isinf(float(text))
    except ValueError:
        return True


characters = st.characters(codec="utf-8", exclude_characters="\0")
cell = st.text(characters, min_size=1).filter(_is_finite)


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=5))
def test_whatever_csv_writes_is_read(tmp_path_factory, cells):
    out = io.StringIO()
    csv.writer(out).writerows([["first", "second"], *cells])
    found = table(tmp_path_factory.mktemp("cells"), out.getvalue().encode())
    assert len(found) == len(cells)
    for row, record in enumerate(cells):
        for name, cell in zip(("first", "second"), record):
            value = found.row(row)[name]
            if isinstance(value, str):
                assert value == cell
            elif value is not None:
                assert float(cell) == value


def test_jsonl_numbers_texts_and_gaps(tmp_path):
    found = table(
        tmp_path, '{"a": 1.5, "c": true}\n{"a": null, "b": "x"}\n{"a": 2, "b": 7}\n', "p.jsonl"
    )
    assert found.row(0) == {"a": 1.5, "c": 1, "b": None}
    assert found.row(1) == {"a": None, "c": None, "b": "x"}
    assert found.row(2)["b"] == "7"


def test_npy(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "pool.npy", X)
    found = read_table(tmp_path / "pool.npy")
    assert np.array_equal(np.asarray(found.matrix), X)
    assert found.row(1) == {"0": 2, "1": 3}


@pytest.mark.parametrize(
    "array",
    [np.array([["a"]]), np.zeros(3), np.zeros((0, 2)), np.array([[1, np.nan]]), np.array([[1j]])],
    ids=["text", "one axis", "empty", "nan", "complex"],
)
def test_npy_that_is_no_pool(array, tmp_path):
    np.save(tmp_path / "pool.npy", array)
    with pytest.raises(FileProblem, match=r"pool\.npy"):
        read_table(tmp_path / "pool.npy")


def test_npy_never_runs_a_pickle(tmp_path):
    np.save(tmp_path / "pool.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(FileProblem):
        read_table(tmp_path / "pool.npy")
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (tmp_path / "none.npy").write_bytes(b"PK\x03\x04")
    for name in ("cut.npy", "none.npy"):
        with pytest.raises(FileProblem):
            read_table(tmp_path / name)


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    rows = arrow.table({"a": [1, None, 3], "b": ["x", None, "z"], "c": [True, False, None]})
    parquet.write_table(rows, tmp_path / "pool.parquet")
    found = read_table(tmp_path / "pool.parquet")
    assert [found.row(i) for i in range(3)] == [
        {"a": 1, "b": "x", "c": 1}, {"a": None, "b": None, "c": 0}, {"a": 3, "b": "z", "c": None},
    ]  # fmt: skip
    parquet.write_table(arrow.table({"a": [[1], [2]]}), tmp_path / "pool.parquet")
    with pytest.raises(FileProblem, match="column 'a'"):
        read_table(tmp_path / "pool.parquet")
    (tmp_path / "pool.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(FileProblem, match="not Parquet"):
        read_table(tmp_path / "pool.parquet")


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("a,b\n1,2\n3\n", "line 3"),
        ("a,b\n1,2\n3,4,5\n", "line 3"),
        ('a,b\n1,2\n3,"x\n', "line 3"),
        ('a,b\n1,2\n3,"x"y\n', "line 3"),
        ("a,a\n1,2\n", "line 1, column 'a'"),
        ("a,b\n1,2\n1e999,3\n", "line 3, column 'a'"),
        ("a,b\n1,2\n3,inf\n", "line 3, column 'b'"),
        ("a,b\n1,2\n3,\0\n", "line 3"),
        ("1.5,2.5\n3,4\n", "line 1"),
        ("", "empty"),
        ("\n \n", "empty"),
        ("a,b\n", "no rows"),
        (b"a,b\n1,2\n3,\x81\x8d\n", "line 3"),
    ],
)
def test_faults_of_csv_are_placed(content, place, tmp_path):
    with pytest.raises(FileProblem, match=r"pool\.csv") as found:
        table(tmp_path, content)
    assert place in str(found.value)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"a": 1}\n{"a": \n', "line 2"),
        ('{"a": 1}\n[1]\n', "line 2"),
        ('{"a": 1}\n{"a": {"b": 1}}\n', "line 2, column 'a'"),
        ('{"a": 1}\n{"a": 1e999}\n', "line 2, column 'a'"),
        ("[" * 100_000, "line 1"),
        ('{"a": ' + "9" * 5000 + "}", "line 1"),
        ("", "no rows"),
        ("{}\n", "no columns"),
    ],
    ids=["cut", "list", "nested", "infinite", "deep", "digits", "empty", "nothing"],
)
def test_faults_of_jsonl_are_placed(content, place, tmp_path):
    with pytest.raises(FileProblem, match=r"pool\.jsonl") as found:
        table(tmp_path, content, "pool.jsonl")
    assert place in str(found.value)


def test_names_that_count_are_names(tmp_path):
    assert table(tmp_path, "0,1\n5.5,6\n").names == ["0", "1"]
    assert table(tmp_path, ",0,1\n0,5.5,6\n").names == ["", "0", "1"]


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.csv"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(InvalidArgument, match=r"\.csv"):
        table(tmp_path, "a\n1\n", "pool.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidArgument, match="must be a file"):
        read_table(tmp_path / "folder.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InvalidArgument, match="must be a file"):
        read_table(tmp_path / "pipe.csv")
    with pytest.raises(InvalidArgument, match="encoding"):
        table(tmp_path, "a\n1\n", encoding="klingon")
    with pytest.raises((InvalidArgument, FileProblem)):
        table(tmp_path, "a\n1\n", encoding="hex")


def test_messages_do_not_carry_escapes(tmp_path):
    with pytest.raises(FileProblem) as found:
        table(tmp_path, '{"a": 1}\n{"a\u001b[31m": [1]}\n'.replace("\u001b", "\\u001b"), "p.jsonl")
    assert "\x1b" not in str(found.value)


# --- what is remembered -----------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(memory, "SMALLEST", 0)
    monkeypatch.setattr(memory, "SETTLED", -(10**18))  # also what was written just now
    return memory.folder()


def test_a_table_is_read_once(kept, tmp_path, monkeypatch):
    first = table(tmp_path, "x,y\n1,2\n3,4\n")
    assert len(list(kept.glob("*.table"))) == 1
    monkeypatch.setattr(np, "loadtxt", None)  # would fail
    again = read_table(tmp_path / "pool.csv")
    assert again.names == first.names
    assert np.array_equal(np.asarray(again.matrix), np.asarray(first.matrix))
    assert again.digest(1) == first.digest(1)


def test_a_changed_file_is_read_again(kept, tmp_path):
    table(tmp_path, "x\n1\n")
    assert table(tmp_path, "x\n2\n").row(0) == {"x": 2}


def test_a_file_that_may_still_change_is_not_kept(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "SETTLED", 10**18)
    table(tmp_path, "x\n1\n")
    assert not list(kept.glob("*.table"))


def test_damage_counts_as_absence(kept, tmp_path):
    table(tmp_path, "x,y\n1,2\n3,4\n")
    (held,) = kept.glob("*.table")
    whole = held.read_bytes()
    for place in range(len(whole)):
        for changed in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :],
        ):
            held.write_bytes(changed)
            found = memory.recalled(tmp_path / "pool.csv", None, None)
            if found is not None:  # a changed name of a column is all that could pass
                assert found[1].tolist() == [[1, 2], [3, 4]]
    held.write_bytes(whole)
    held.chmod(0o622)
    assert memory.recalled(tmp_path / "pool.csv", None, None) is None


def test_few_are_kept(kept, tmp_path):
    for number in range(6):
        table(tmp_path, f"x\n{number}\n", f"{number}.csv")
    assert len(list(kept.glob("*.table"))) == memory.KEPT


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(memory, "SMALLEST", 0)
    assert table(tmp_path, "x\n1\n").row(0) == {"x": 1}


def test_digests_tell_rows_apart(tmp_path):
    found = table(tmp_path, json.dumps({"a": "1"}) + "\n" + json.dumps({"a": "x"}), "p.jsonl")
    other = table(tmp_path, '{"a": 1}\n{"a": 2}', "q.jsonl")
    assert found.digest(0) != other.digest(0)  # text and number
    assert found.digest(0) != found.digest(1)
    assert found.digest(0).isalpha()
