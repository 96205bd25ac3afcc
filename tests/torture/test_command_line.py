"""Commands with bad input: one line on standard error, a documented exit code, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apm.cli import app
from apm.studies.data.catalogue import load
from channelcode.errors import InvalidArgument


def fails(code: int, *arguments: str) -> str:
    """The one line that a command ends with."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize(
    "channel",
    [
        "softmax:inf", "softmax:nan", "softmax:-inf", "softmax:1e9", "softmax:1e300", "softmax:2.5",
        "softmax:0", "softmax:-3", "softmax:", "softmax:1,2", "binomial:inf", "binomial:1e9",
        "probit:nan", "probit:inf", "probit:0", "ordinal:1,nan", "ordinal:", "ordinal:2,1",
        "quantised:inf", "bsc:nan", "bsc:2", "bec:-1", "z:inf", "lapse:nan,0", "lapse:1",
        "logistic:3", "nothing", "", ":", "softmax:\u0663x",
    ],
)  # fmt: skip
def test_channels_that_are_none(channel):
    fails(2, "capacity", "--channel", channel, "--power", "1")


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000, b"", b"null", b"7", b'"text"', b"[]", b"[[]]", b"[[1], [0.5, 0.5]]",
        b'[["a"]]', b"[[NaN, 1]]", b"[[1e999, 0]]", b"[[2, -1]]", b'{"matrix": null}', b"{}",
        b'{"matrix": [[1]], "inputs": "x"}', b"\xff\xfe", b"[[0.5, 0.5]", b"[[null, 1]]",
        b'{"matrix": [[0.9, 0.1], [0.1, 0.9]], "inputs": [1]}', b"[[[1]]]", b'{"a": 1, "b": 2}',
    ],
    ids=lambda content: repr(content[:24]),
)  # fmt: skip
def test_files_that_hold_no_channel(content, tmp_path):
    path = tmp_path / "channel.json"
    path.write_bytes(content)
    fails(2, "capacity", "--channel", str(path), "--power", "1")


def test_a_channel_file_that_is_not_there(tmp_path):
    assert "gone.json" in fails(2, "capacity", "--channel", str(tmp_path / "gone.json"))
    (tmp_path / "folder.json").mkdir()
    fails(2, "capacity", "--channel", str(tmp_path / "folder.json"))


@pytest.mark.parametrize(
    "options",
    [
        ("--power", "nan"), ("--power", "-1"), ("--power", "1", "--tol", "0"),
        ("--power", "1", "--tol", "nan"), ("--peak", "-1"), ("--peak", "nan"),
        ("--curve",), ("--curve", "--power", "inf"), ("--curve", "--power", "1", "--points", "1"),
        ("--curve", "--power", "1", "--points", "1000000000"),
        ("--curve", "--power", "1", "--peak", "2"),
        ("--power", "1", "--plot", "picture.xyz"), ("--power", "1", "--plot", ""),
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_that_cannot_be(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(2, "capacity", *options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["plot", "curve", "demo"])
def test_what_cannot_be_written_is_said_before_the_work(command, tmp_path, monkeypatch):
    def works(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("channelcode.capacity", works)
    monkeypatch.setattr("channelcode.capacity_curve", works)
    monkeypatch.setattr("apm.cli.demo._capacities", works)
    (tmp_path / "file").write_text("")
    blocked = tmp_path / "file" / "below"
    if command == "demo":
        line = fails(1, "demo", "--out", str(blocked))
    else:
        extra = ("--curve", "--points", "100000") if command == "curve" else ()
        options = ("--channel", "softmax:9", "--power", "7", "--plot", str(blocked / "a.png"))
        line = fails(1, "capacity", *options, *extra)
    assert "file" in line


def test_a_picture_says_the_name_that_it_got(tmp_path):
    done = CliRunner().invoke(app, ["capacity", "--power", "1", "--plot", str(tmp_path / "name")])
    assert done.exit_code == 0
    assert f"drawn to {tmp_path / 'name.png'}" in done.stdout
    assert os.listdir(tmp_path) == ["name.png"]
    (tmp_path / "link.png").symlink_to(tmp_path / "nowhere.png")
    fails(2, "capacity", "--power", "1", "--plot", str(tmp_path / "link.png"))


def test_json_is_json_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for options in ((), ("--curve", "--points", "5"), ("--plot", "a.svg")):
        arguments = ["capacity", "--power", "4", "--json", *options]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0
        told = json.loads(done.stdout)
        bits = told["bits"][-1] if "--curve" in options else told["bits"]
        assert bits == pytest.approx(0.47293466, abs=1e-7)
    assert os.listdir(tmp_path) == ["a.svg"]  # no picture that was not asked for


def command(*arguments: str, **options):
    return subprocess.run(
        [sys.executable, "-m", "apm", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        **options,
    )


def test_output_to_a_full_disk():
    with open("/dev/full", "w") as full:
        done = command("datasets", stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["error: [Errno 28] No space left on device"]


def test_output_to_a_reader_that_has_gone():
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as pipe:
        done = command("datasets", stdout=pipe)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_missing_data_folder_is_an_error(tmp_path, monkeypatch):
    line = fails(
        2, "reproduce", "--out", str(tmp_path / "out"), "--data-dir", str(tmp_path / "none"),
        "--dataset", "wdbc", "--trials", "1",
    )  # fmt: skip
    assert "data_dir must be a folder that is there" in line
    monkeypatch.setenv("APM_DATA", str(tmp_path / "none"))
    with pytest.raises(InvalidArgument, match="APM_DATA must be a folder"):
        load("wdbc")


def wdbc(folder: Path, lines: list[bytes]) -> Path:
    (folder / "wdbc.data").write_bytes(b"\n".join(lines))
    return folder


GOOD = b"1,M," + b",".join(b"%d" % place for place in range(30))


@pytest.mark.parametrize(
    "line, rule",
    [
        (GOOD.replace(b",7,", b",?,"), "must hold numbers, got '[?]'"),
        (GOOD.replace(b",7,", b',"7",'), "must hold numbers"),
        (GOOD.replace(b",7,", b",,"), "must hold numbers, got ''"),
        (GOOD.replace(b",7,", b",nan,"), "must hold finite numbers"),
        (GOOD.replace(b",7,", b",1e999,"), "must hold finite numbers"),
        (GOOD + b",30", "must have 30 features as the lines before, got 31 features"),
        (GOOD[:-3], "must have 30 features as the lines before, got 29 features"),
        (b"M", "must have features and a label"),
        (GOOD.replace(b"M", b"\xff\xfe"), "must be text in UTF-8"),
    ],
)
def test_a_bad_line_of_a_data_file_is_named(line, rule, tmp_path):
    folder = wdbc(tmp_path, [GOOD, b"", line, GOOD])
    with pytest.raises(InvalidArgument, match=rule) as caught:
        load("wdbc", data_dir=folder)
    assert caught.value.argument == f"line 3 of {folder / 'wdbc.data'}"


def test_a_byte_order_mark_is_no_part_of_the_data(tmp_path):
    lines = [GOOD if place < 357 else GOOD.replace(b"M", b"B") for place in range(569)]
    plain = load("wdbc", data_dir=wdbc(tmp_path, lines))
    marked = load("wdbc", data_dir=wdbc(tmp_path, [b"\xef\xbb\xbf" + lines[0], *lines[1:]]))
    assert marked.digest == plain.digest


def test_an_empty_data_file(tmp_path):
    with pytest.raises(InvalidArgument, match="data file must have lines"):
        load("wdbc", data_dir=wdbc(tmp_path, []))


def test_exit_codes_are_documented():
    assert "Exit codes: 0 done; 1" in " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
