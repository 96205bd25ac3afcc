"""Studies: the same result for any number of workers and after any interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.studies.data.catalogue import load
from apm.studies.engine.store import Store, StoreError
from apm.studies.engine.study import Study, chosen, run_study
from apm.studies.paper.protocol import PaperPlan
from channelcode.errors import InvalidArgument
from tests.apm.studies.conftest import small_dataset

ROOT = Path(__file__).resolve().parents[4]


def contents(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Everything that a study stored, but for the seconds it took."""
    found = {}
    for path in sorted((folder / "trials").rglob("*.npz")):
        with np.load(path) as archive:
            found[str(path.relative_to(folder))] = {
                name: archive[name] for name in archive.files if not name.endswith("_seconds")
            }
    return found


def assert_same(one: Path, other: Path) -> None:
    first, second = contents(one), contents(other)
    assert first.keys() == second.keys()
    for path, arrays in first.items():
        assert arrays.keys() == second[path].keys()
        for name, values in arrays.items():
            np.testing.assert_array_equal(values, second[path][name], err_msg=f"{path} {name}")


def test_one_and_two_workers_give_the_same(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    study = make_study()
    alone = run_study(study, tmp_path / "one", workers=1, progress=False)
    pair = run_study(study, tmp_path / "two", workers=2, progress=False)
    assert (alone.ran, pair.ran, pair.found) == (6, 6, 0)
    assert_same(tmp_path / "one", tmp_path / "two")


def test_a_finished_study_is_not_run_again(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    run_study(make_study(), tmp_path, progress=False)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    again = run_study(make_study(), tmp_path, progress=False)
    assert (again.found, again.ran) == (6, 0)
    assert stamps == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}


def test_more_trials_and_more_sets_go_on(tmp_path: Path, make_study: Callable[..., Study]) -> None:
    run_study(make_study(trials=2, names=("small",)), tmp_path / "grown", progress=False)
    outcome = run_study(make_study(), tmp_path / "grown", progress=False)
    assert (outcome.found, outcome.ran) == (2, 4)
    run_study(make_study(), tmp_path / "whole", progress=False)
    # "small" has its exploration measures in both; the order of growth does not matter
    assert_same(tmp_path / "grown", tmp_path / "whole")


CHILD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born without it
from tests.apm.studies.conftest import small_dataset
from apm.studies.engine.study import Study, run_study
from apm.studies.paper.protocol import PaperPlan
names = ("small", "other")
methods = ("APM-LR", "Uncertainty", "Random", "InfoGain")
plans = [
    PaperPlan(
        small_dataset(name, seed=place), methods, 6, diversity=place == 0, trials=int(sys.argv[2])
    )
    for place, name in enumerate(names)
]
run_study(Study(plans), sys.argv[1], workers=int(sys.argv[3]), progress=False)
"""


def start_child(folder: Path, trials: int, workers: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(trials), str(workers)],
        cwd=ROOT, env=environment, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def wait_for_files(child: subprocess.Popen[bytes], folder: Path, count: int) -> None:
    limit = time.monotonic() + 120
    while len(list(folder.rglob("[0-9]*.npz"))) < count:
        assert child.poll() is None, child.stderr.read().decode() if child.stderr else ""
        assert time.monotonic() < limit, "the child stores nothing"
        time.sleep(0.002)


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_resumed_is_the_same_as_never_stopped(
    tmp_path: Path, make_study: Callable[..., Study], workers: int
) -> None:
    trials = 40
    child = start_child(tmp_path / "killed", trials, workers)
    wait_for_files(child, tmp_path / "killed", 5)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    stored = len(list((tmp_path / "killed").rglob("[0-9]*.npz")))
    assert 5 <= stored < 2 * trials, "killed too late to say anything"
    outcome = run_study(make_study(trials=trials), tmp_path / "killed", progress=False)
    assert outcome.repaired == ()  # whatever was stored was whole
    assert outcome.found == stored
    run_study(make_study(trials=trials), tmp_path / "whole", progress=False)
    assert_same(tmp_path / "killed", tmp_path / "whole")


def test_an_interrupt_keeps_what_is_finished_and_says_so(tmp_path: Path) -> None:
    child = start_child(tmp_path, 4000, 1)  # long enough for any machine
    wait_for_files(child, tmp_path, 3)
    os.killpg(child.pid, signal.SIGINT)
    message = child.communicate(timeout=60)[1].decode()
    assert child.returncode not in (0, None)
    assert "of 8000 trials are kept. The same command continues from there." in message
    assert not list(tmp_path.rglob(".*.npz.*"))


def test_a_damaged_trial_is_run_again_and_named(
    tmp_path: Path, make_study: Callable[..., Study], capsys: pytest.CaptureFixture[str]
) -> None:
    run_study(make_study(), tmp_path / "one", progress=False)
    path = tmp_path / "one" / "trials" / "small" / "00001.npz"
    path.write_bytes(path.read_bytes()[:100])
    outcome = run_study(make_study(), tmp_path / "one", progress=False)
    assert (outcome.repaired, outcome.ran) == (("small/00001.npz",), 1)
    assert "small/00001.npz is damaged: that trial is run again" in capsys.readouterr().err
    run_study(make_study(), tmp_path / "two", progress=False)
    assert_same(tmp_path / "one", tmp_path / "two")


def test_a_full_disk_with_two_workers(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Store, *args: Any) -> None:
        raise StoreError("cannot write: No space left on device")

    monkeypatch.setattr(Store, "save", full)
    with pytest.raises(StoreError, match="No space left"):
        run_study(make_study(), tmp_path, workers=2, progress=False)


@pytest.mark.parametrize("change", [{"seed": 1}, {"queries": 7}, {"methods": ("Random",)}])
def test_results_of_other_settings_are_refused(
    tmp_path: Path, make_study: Callable[..., Study], change: dict[str, Any]
) -> None:
    run_study(make_study(), tmp_path, progress=False)
    with pytest.raises(StoreError, match="other settings"):
        run_study(make_study(**change), tmp_path, progress=False)
    (tmp_path / "study.json").unlink()  # each trial carries its settings as well
    with pytest.raises(StoreError, match="other settings"):
        run_study(make_study(**change), tmp_path, progress=False)


def test_a_full_disk_stops_cleanly_and_the_study_goes_on(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, saved = Store.save, []

    def fill_up(self: Store, *args: Any) -> None:
        if len(saved) == 2:
            raise StoreError("cannot write: No space left on device")
        saved.append(args[:2])
        real(self, *args)

    monkeypatch.setattr(Store, "save", fill_up)
    with pytest.raises(StoreError, match="No space left"):
        run_study(make_study(), tmp_path / "one", progress=False)
    monkeypatch.undo()
    outcome = run_study(make_study(), tmp_path / "one", progress=False)
    assert (outcome.found, outcome.repaired) == (2, ())
    run_study(make_study(), tmp_path / "two", progress=False)
    assert_same(tmp_path / "one", tmp_path / "two")


def test_each_trial_records_how_it_was_made(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    study = make_study(trials=1)
    run_study(study, tmp_path, progress=False)
    meta = Store(tmp_path).meta("small", 0) or {}
    assert meta["fingerprint"] == study.plans[0].fingerprint()
    assert {"python", "numpy", "numba", "channelcode"} <= meta["versions"].keys()
    described = json.loads((tmp_path / "study.json").read_text())
    assert described["plans"][0]["methods"] == ["APM-LR", "Uncertainty", "Random", "InfoGain"]
    assert described["plans"][0]["seed"] == 0


def test_memory_does_not_grow_with_the_trials(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    import tracemalloc

    run_study(make_study(trials=1), tmp_path / "warm", progress=False)
    peaks = []
    for trials in (3, 18):
        study = make_study(trials=trials)
        tracemalloc.start()
        run_study(study, tmp_path / str(trials), progress=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # six times the trials: only the list of what is to do grows (a tuple of two for each)
    assert peaks[1] < 1.25 * peaks[0] + 50_000


def test_bad_descriptions_are_refused(make_study: Callable[..., Study], tmp_path: Path) -> None:
    small = small_dataset()
    with pytest.raises(InvalidArgument, match="did you mean Random"):
        PaperPlan(small, ("random",))
    with pytest.raises(InvalidArgument, match="different names"):
        PaperPlan(small, ("Random", "Random"))
    with pytest.raises(InvalidArgument, match="among the methods"):
        PaperPlan(small, ("Random",), 6, brief=("EPIG",))
    with pytest.raises(InvalidArgument, match="different names"):
        Study([PaperPlan(small, ("Random",), 6), PaperPlan(small, ("BALD",), 6)])
    with pytest.raises(InvalidArgument, match="at most 28, what the pool of small has"):
        make_study(queries=29)
    with pytest.raises(InvalidArgument, match="two classes, not 10"):
        PaperPlan(load("digits"), ("Random",))
    with pytest.raises(InvalidArgument, match="workers must be at least 1"):
        run_study(make_study(), tmp_path, workers=0)
    with pytest.raises(InvalidArgument, match="trials must be at least 1"):
        make_study(trials=0)


@pytest.mark.parametrize("name", ["../out", "a/b", "", ".hidden", "a b", "a\n"])
def test_a_name_that_is_no_folder_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="plans"):
        Study([PaperPlan(small_dataset(name), ("Random",), 6)])


def test_chosen_names_are_known_and_different() -> None:
    assert chosen("methods", None, ("a", "b")) == ("a", "b")
    assert chosen("methods", ["b", "a"], ("a", "b")) == ("b", "a")
    for wrong in ([], ["a", "a"], ["c"]):
        with pytest.raises(InvalidArgument, match="methods"):
            chosen("methods", wrong, ("a", "b"))
