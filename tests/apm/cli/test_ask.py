"""`apm ask`, `tell`, `evaluate` and `export`, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from apm.cli import app
from apm.label import Session
from tests.apm.label import given as pools


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def fails(code: int, *arguments: object) -> str:
    """The one line that a command ends with."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.fixture
def files(tmp_path):
    return pools.numbers(tmp_path, rows=30), tmp_path / "labels.csv"


def asked(pool, labels, *options):
    text = run("ask", pool, "--labels", labels, *options)
    return [int(record["row"]) for record in csv.DictReader(io.StringIO(text))]


def test_ask_tell_ask(files):
    pool, labels = files
    first = asked(pool, labels, "-n", "3")
    assert len(set(first)) == 3
    assert not labels.exists()
    assert asked(pool, labels) == first[:1]
    said = run("tell", pool, "--labels", labels, f"{first[0]}=yes", f"{first[1]}=no")
    assert said.startswith("2 answers written; 2 of 30 rows")
    second = asked(pool, labels, "-n", "5")
    assert not set(second) & set(first[:2])
    X = np.loadtxt(pool, delimiter=",", skiprows=1)
    assert len(X) == 30


def test_the_same_files_give_the_same_rows(files):
    """In another process, with the lines in another order and dress."""
    pool, labels = files
    for row in range(6):
        run("tell", pool, "--labels", labels, f"{row}={'ab'[row % 2]}")
    first = asked(pool, labels, "-n", "4")
    head, *lines = labels.read_text().splitlines()
    labels.write_text("\r\n".join([head, *reversed(lines)]) + "\r\n")
    assert asked(pool, labels, "-n", "4") == first
    labels.write_text("label;row\n" + "".join(f"{'ab'[row % 2]};{row}\n" for row in range(6)))
    assert asked(pool, labels, "-n", "4") == first
    command = [sys.executable, "-m", "apm", "ask", str(pool), "--labels", str(labels), "-n", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]] == first


def test_a_row_told_again_has_its_last_label(files):
    pool, labels = files
    run("tell", pool, "--labels", labels, "1=a", "2=b", "--skip", "3", "--unsure", "4")
    run("tell", pool, "--labels", labels, "2=a", "--open", "3")
    run("tell", pool, "--labels", labels, "2=a")  # nothing new
    assert len(labels.read_text().splitlines()) == 7
    rows = list(csv.DictReader(io.StringIO(run("export", pool, "--labels", labels))))
    assert [(row["row"], row["label"], row["answer"]) for row in rows if row["answer"]] == [
        ("1", "a", "label"), ("2", "a", "label"), ("4", "", "unsure"),
    ]  # fmt: skip
    assert 3 in asked(pool, labels, "-n", "30")
    assert not {1, 2, 4} & set(asked(pool, labels, "-n", "30"))


def test_tell_from_a_filled_in_batch(files, tmp_path):
    pool, labels = files
    batch = tmp_path / "batch.csv"
    run("ask", pool, "--labels", labels, "-n", "4", "--out", batch)
    records = list(csv.DictReader(io.StringIO(batch.read_text())))
    with batch.open("w") as file:
        writer = csv.DictWriter(file, records[0])
        writer.writeheader()
        for place, record in enumerate(records):
            writer.writerow({**record, "label": "ab"[place % 2] if place else ""})
    run("tell", pool, "--labels", labels, "--from", batch)
    assert len(labels.read_text().splitlines()) == 4
    run("tell", pool, "--labels", labels, "--from", batch)  # once more adds nothing
    assert len(labels.read_text().splitlines()) == 4


@pytest.mark.parametrize("to", ["csv", "jsonl", "label-studio", "doccano", "prodigy"])
def test_every_format(to, tmp_path):
    pool, labels = pools.reviews(tmp_path), tmp_path / "labels.csv"
    run("tell", pool, "--labels", labels, "--id", "sku", "s-1=good", "s-2=bad")
    options = ("--labels", labels, "--text", "review", "--id", "sku", "--to", to)
    text = run("ask", pool, *options, "-n", "2")
    assert text.count("s-") >= 2
    whole = run("export", pool, *options)
    assert whole.count("s-") >= 30
    if to not in ("csv", "jsonl", "doccano", "prodigy"):
        assert len(json.loads(whole)) == 30


def test_probabilities_are_those_of_the_learner(files):
    pool, labels = files
    run("tell", pool, "--labels", labels, "1=a", "2=b", "3=a", "4=b")
    text = run("export", pool, "--labels", labels, "--to", "jsonl")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 30
    for row in rows:
        assert sum(row["probability"].values()) == pytest.approx(1.0)
        assert row["predicted"] == max(row["probability"], key=row["probability"].get)
    from apm.label import Answer
    from apm.tables import features_of, read_table

    session = Session(features_of(read_table(pool)).matrix)
    told = {row: Answer("label", "ab"[(row + 1) % 2]) for row in (1, 2, 3, 4)}
    expected = session.learner(told).predict_proba()
    assert np.allclose([list(row["probability"].values()) for row in rows], expected, atol=1e-12)


def test_evaluate_shows_and_draws(files, tmp_path):
    pool, labels = files
    pairs = [f"{row}={'ab'[row % 2]}" for row in range(12)]
    run("tell", pool, "--labels", labels, *pairs)
    text = run("evaluate", pool, "--labels", labels, "--plot", tmp_path / "e.png")
    for part in (
        "12 labels: a 6, b 6",
        "learning curve",
        "calibration",
        "by the model's own account",
    ):
        assert part in text
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("tell", "POOL", "--labels", "LABELS", "99=a"), "0..29"),
        (("tell", "POOL", "--labels", "LABELS", "-1=a"), None),
        (("tell", "POOL", "--labels", "LABELS", "a"), "equals sign"),
        (("tell", "POOL", "--labels", "LABELS", "1="), "one line of text"),
        (("tell", "POOL", "--labels", "LABELS"), "--from"),
        (("tell", "POOL", "--labels", "LABELS", "1=a", "1=b"), "one answer"),
        (("tell", "POOL", "--labels", "LABELS", "1=a", "--skip", "1"), "one answer"),
        (("tell", "POOL", "--labels", "LABELS", "--from", "gone.csv"), "gone.csv"),
        (("ask", "POOL", "--labels", "LABELS", "-n", "0"), "at least 1"),
        (("ask", "POOL", "--labels", "LABELS", "--to", "xml"), "label-studio"),
        (("ask", "POOL", "--labels", "LABELS", "--features", "q"), "column"),
        (("ask", "POOL", "--labels", "LABELS", "--features", ","), "commas"),
        (("ask", "POOL", "--labels", "LABELS", "--text", "q"), "column"),
        (("ask", "POOL", "--labels", "LABELS", "--id", "q"), "column"),
        (("ask", "POOL", "--labels", "LABELS", "--seed", "-1"), "seed"),
        (("ask", "POOL", "--labels", "POOL"), "pool itself"),
        (("ask", "gone.csv", "--labels", "LABELS"), "gone.csv"),
        (("evaluate", "POOL", "--labels", "LABELS"), "two classes"),
        (("evaluate", "POOL", "--labels", "LABELS", "--plot", "a.xyz"), "png"),
    ],
)
def test_one_line_for_a_mistake(arguments, part, files):
    pool, labels = files
    names = {"POOL": str(pool), "LABELS": str(labels)}
    result = CliRunner().invoke(app, [names.get(each) or each for each in arguments])
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    if part is not None:
        assert part in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not labels.exists()


def test_a_fault_in_the_label_file_names_the_line(files):
    pool, labels = files
    labels.write_text("row,label\n1,a\n99,b\n")
    for command in ("ask", "evaluate", "export"):
        assert "labels.csv, line 3, column 'row'" in fails(2, command, pool, "--labels", labels)
    fails(2, "tell", pool, "--labels", labels, "2=a")
    assert labels.read_text() == "row,label\n1,a\n99,b\n"


def test_a_torn_line_is_said_and_moved_aside(files):
    pool, labels = files
    run("tell", pool, "--labels", labels, "1=a", "2=b")
    whole = labels.read_bytes()
    labels.write_bytes(whole[:-6])
    result = CliRunner().invoke(app, ["ask", str(pool), "--labels", str(labels)])
    assert "cut short" in result.stderr
    assert labels.read_bytes() == whole[:-6]
    result = CliRunner().invoke(app, ["tell", str(pool), "--labels", str(labels), "3=a"])
    assert result.exit_code == 0
    assert "labels.csv.tail-1" in result.stderr
    assert labels.with_name("labels.csv.tail-1").read_bytes() == b"2,b,label," + whole[-9:-6]
    assert result.stdout.startswith("1 answer written; 2 of 30")


def test_nothing_left_is_no_error(files):
    pool, labels = files
    run("tell", pool, "--labels", labels, *[f"{row}=a" for row in range(30)])
    result = CliRunner().invoke(app, ["ask", str(pool), "--labels", str(labels), "-n", "2"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1
    assert "0 of 30 rows are left" in result.stderr


def test_output_is_written_whole(files, tmp_path):
    pool, labels = files
    out = tmp_path / "next.csv"
    run("ask", pool, "--labels", labels, "--out", out)
    assert out.read_text().startswith("row,label")
    os.chmod(out, 0o640)
    run("ask", pool, "--labels", labels, "--out", out)
    assert out.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in Path(tmp_path).iterdir() if each.name.startswith(".apm")] == []
