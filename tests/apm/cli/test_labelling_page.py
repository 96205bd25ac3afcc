"""The commands on the page about labelling files run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apm.cli import app

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "labelling-files.md").read_text()
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```$", PAGE, re.M | re.S)


def test_commands_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = 0
    for language, body in BLOCKS:
        if language == "python":
            exec(compile(body, "labelling-files.md", "exec"), {"__name__": "__main__"})
            continue
        for line in body.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "apm"
            if arguments[0] == "label":
                continue  # it serves until it is stopped
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, (line, result.output)
            commands += 1
    assert commands >= 10
    names = ("labels.csv", "next.csv", "tasks.json", "evaluation.png", "labelled.csv")
    assert all((tmp_path / name).is_file() for name in names)


@pytest.mark.parametrize("command", ["ask", "tell", "evaluate", "export"])
def test_options_on_the_page_exist(command):
    text = CliRunner().invoke(app, [command, "--help"], terminal_width=200).stdout
    for line in (line for _, body in BLOCKS for line in body.splitlines()):
        if line.startswith(f"apm {command} "):
            for option in re.findall(r"(?<= )--?[a-z]+", line):
                assert option in text, line


def test_labels_in_a_folder_that_is_not_there_are_refused_before_a_page_is_served(tmp_path):
    (tmp_path / "pool.csv").write_text("a,b\n1,2\n3,4\n")
    arguments = ["label", str(tmp_path / "pool.csv"), "--labels", str(tmp_path / "no" / "l.csv")]
    result = CliRunner().invoke(app, [*arguments, "--no-browser"])
    assert result.exit_code in (1, 2)
    assert "folder that exists" in result.output
