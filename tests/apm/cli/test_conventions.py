"""What every command keeps to: version, help, completion, colours, entry points, Ctrl-C."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

import apm
import channelcode
from apm.cli import app, extensions
from apm.cli.channel import parse_channel
from apm.selectors import Random
from channelcode import Logistic
from channelcode.errors import InvalidArgument
from tests.apm.label import given as pools

ROOT = Path(__file__).parents[3]
COMMANDS = sorted(command.name or "" for command in app.registered_commands)


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, "-m", "apm", *arguments],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_version() -> None:
    assert (
        CliRunner().invoke(app, ["--version"]).stdout == f"channelcode {channelcode.__version__}\n"
    )
    assert apm.__version__ == channelcode.__version__


@pytest.mark.parametrize("command", COMMANDS)
def test_help_in_short_and_long(command: str) -> None:
    short, long = (CliRunner().invoke(app, [command, flag]) for flag in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.stdout == long.stdout
    assert "Usage" in short.stdout


def test_exit_codes_are_told() -> None:
    text = " ".join(CliRunner().invoke(app, ["-h"]).stdout.split())
    for code in ("0 done", "1 a file", "2 an argument", "130 stopped by Ctrl-C"):
        assert code in text


def test_shell_completion() -> None:
    script = run(_APM_COMPLETE="source_bash").stdout
    assert "_APM_COMPLETE=complete_bash" in script
    for words, expected in (("apm as", "ask"), ("apm ask --to lab", "label-studio"),
                            ("apm capacity --channel prob", "probit"),
                            ("apm ask --selector least", "least-confidence")):  # fmt: skip
        place = str(len(words.split()) - 1)
        found = run(_APM_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place)
        assert found.stdout.split() == [expected], (words, found.stderr)


def test_both_commands_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "channelcode"
    assert project["scripts"] == {"apm": "apm.__main__:main", "channelcode": "apm.__main__:main"}


def test_libraries_are_silent_unless_asked() -> None:
    for name in ("apm", "channelcode"):
        handlers = logging.getLogger(name).handlers
        assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


def test_verbose_says_more(tmp_path: Path) -> None:
    pool = pools.numbers(tmp_path)
    arguments = ("ask", str(pool), "--labels", str(tmp_path / "labels.csv"))
    quiet, loud = run(*arguments), run("-v", *arguments)
    assert quiet.stdout == loud.stdout
    assert quiet.stderr == ""
    assert "apm.tables" in loud.stderr


@pytest.mark.parametrize("switch", [{"NO_COLOR": "1"}, {}])
def test_no_color(switch: dict[str, str]) -> None:
    arguments = ("capacity", "--power", "1")
    escapes = "\x1b" in run(*arguments, FORCE_COLOR="1", **switch).stdout
    assert escapes == (not switch)


# --- entry points -----------------------------------------------------------------------------


def noisy(*numbers: float) -> object:
    return channelcode.Lapse(Logistic(), low=numbers[0], high=numbers[0])


def broken() -> object:
    raise RuntimeError("no luck")


def offering(monkeypatch: pytest.MonkeyPatch, group: str, **points: str) -> None:
    found = [EntryPoint(name, f"{__name__}:{value}", group) for name, value in points.items()]
    monkeypatch.setattr(
        extensions, "entry_points", lambda *, group: [e for e in found if e.group == group]
    )
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__, sys.modules["tests"]))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This module under the name that entry points load it by."""
    import types

    module = types.ModuleType(__name__)
    module.__dict__.update(noisy=noisy, broken=broken, Random=Random, text=lambda: "text")
    monkeypatch.setitem(sys.modules, __name__, module)


def test_channels_of_other_packages(here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, "channelcode.channels", noisy="noisy", logistic="broken", bad="broken",
             odd="text", gone="nothing")  # fmt: skip
    assert parse_channel("noisy:0.02") == channelcode.Lapse(Logistic(), low=0.02, high=0.02)
    assert parse_channel("logistic") == Logistic()  # ours come first
    for name, message in (("bad", "no luck"), ("odd", "must be a Channel"), ("gone", "nothing")):
        with pytest.raises(InvalidArgument, match=message):
            parse_channel(name)
    with pytest.raises(InvalidArgument, match="numbers after the colon"):
        parse_channel("noisy:x")
    result = CliRunner().invoke(app, ["capacity", "--channel", "noisy:0.02", "--power", "1"])
    assert result.exit_code == 0
    assert CliRunner().invoke(app, ["capacity", "--channel", "bad"]).exit_code == 2


def test_selectors_of_other_packages(
    here: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offering(monkeypatch, "apm.selectors", chance="Random", bad="broken")
    assert isinstance(extensions.named_selector("chance"), Random)
    pool = pools.numbers(tmp_path)
    arguments = ["ask", str(pool), "--labels", str(tmp_path / "l.csv"), "--selector"]
    found = [CliRunner().invoke(app, [*arguments, name]).stdout for name in ("chance", "random")]
    assert found[0] == found[1] != ""
    for name, message in (("bad", "no luck"), ("chanse", "did you mean 'chance'")):
        result = CliRunner().invoke(app, [*arguments, name])
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.parametrize("name", extensions.SELECTORS)
def test_selectors_by_name(name: str, tmp_path: Path) -> None:
    pool = pools.numbers(tmp_path)
    third = "a" if name == "apm" else "c"  # the paper's rule warns of a third class
    (tmp_path / "l.csv").write_text(f"row,label\n1,a\n2,b\n3,{third}\n")
    arguments = ["ask", str(pool), "--labels", str(tmp_path / "l.csv"), "--selector", name]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


# --- Ctrl-C -----------------------------------------------------------------------------------

LOADING = """
import builtins
import apm.__main__
real = builtins.__import__
def interrupted(name, *rest):
    if name == "apm.cli":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = interrupted
apm.__main__.main()
"""


def test_ctrl_c_while_loading() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOADING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def children(process: int) -> list[str]:
    """The processes below one, by Linux's account."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the /proc of Linux")
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 4.0])
def test_ctrl_c_while_workers_start(delay: float, tmp_path: Path) -> None:
    """To the whole group, as a terminal sends it, some time after the first worker was born."""
    command = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); " + (
        "runpy.run_module('apm', run_name='__main__')"  # in the background it would be ignored
    )
    options = ["reproduce", "--quick", "--workers", "2", "--out", str(tmp_path), "--no-progress"]
    with subprocess.Popen(
        [sys.executable, "-c", command, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        while not children(running.pid) and running.poll() is None:
            time.sleep(0.01)
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGINT)
        _, text = running.communicate(timeout=300)
    assert "Traceback" not in text, text
    assert running.returncode in (0, 130)
