"""Progress: lines in a log, a bar on a terminal, and the time left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from apm.studies.engine import progress
from apm.studies.engine import study as study_module
from apm.studies.engine.progress import Progress
from apm.studies.engine.study import Study, run_study


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: self.now))


def test_the_time_left_counts_what_was_run_now(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of ten were there before: 31 s for one leave 7 x 31 s, then 62 s for three 5 x 62/3 s."""
    clock = Clock(monkeypatch)
    with Progress(10, finished=2) as display:
        clock.now += 31
        display.advance("a")
        assert capsys.readouterr().err == "3 of 10 trials, about 3.6 minutes left\n"
        clock.now += 15
        display.advance("b")
        assert capsys.readouterr().err == ""  # a line every half minute at most
        clock.now += 16
        display.advance("c")
        assert capsys.readouterr().err == "5 of 10 trials, about 1.7 minutes left\n"
    assert display.finished == 5


def test_hidden_it_says_only_what_it_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Progress(3, shown=False) as display:
        clock.now += 100
        display.advance("a")
        display.say("[bold] a name in brackets 3")
    assert display.finished == 1
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "[bold] a name in brackets 3\n")


def test_a_terminal_gets_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Progress(7, finished=2) as display:
        display.advance("cross 3")
    written = capsys.readouterr().err
    assert "cross 3" in written
    assert "3/7" in written
    assert "minutes left" not in written


def notebook(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> None:
    """Make `rich` believe that it is in a notebook, and keep what it displays there."""
    from rich import console, jupyter, live

    def keep(segments: Any, text: str) -> None:
        shown.append(text)

    monkeypatch.setattr(console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(jupyter, "display", keep)
    monkeypatch.setattr(live.Live, "refresh", lambda self: shown.append("bar"))


def test_a_notebook_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipywidgets")
    shown: list[str] = []
    notebook(monkeypatch, shown)
    with Progress(7, finished=2) as display:
        display.advance("cross 3")
    assert "bar" in shown
    with Progress(7, shown=False) as display:
        display.say("a line")
    assert shown[-1] == "a line\n"


def test_a_notebook_without_widgets_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `rich` could draw nothing and would warn instead."""
    shown: list[str] = []
    notebook(monkeypatch, shown)
    clock = Clock(monkeypatch)
    monkeypatch.setattr(progress, "_in_notebook", lambda console: False)
    with Progress(10) as display:
        clock.now += 31
        display.advance("a")
    assert shown == ["1 of 10 trials, about 4.7 minutes left\n"]


def test_progress_speaks_in_a_log(
    tmp_path: Path,
    make_study: Callable[..., Study],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    run_study(make_study(trials=1), tmp_path, progress=True)
    assert "1 of 2 trials, about" in capsys.readouterr().err
    assert study_module.versions()["numpy"] == np.__version__
