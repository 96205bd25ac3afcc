"""The trials of a study: damage is seen, other settings are refused, one process at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.studies.engine.store import Store, StoreError
from apm.studies.engine.study import Plan, Study, run_study
from apm.studies.engine.tables import read_csv, write_csv
from apm.studies.engine.trial import Run
from channelcode.errors import InvalidArgument


class Counting(Plan):
    """Trials without work: what they hold follows from the seed."""

    def __init__(self, seed: int, trials: int = 6, name: str = "set") -> None:
        self.seed, self.trials, self.plan_name = seed, trials, name

    @property
    def name(self) -> str:
        return self.plan_name

    @property
    def num_trials(self) -> int:
        return self.trials

    def settings(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def run(self, trial: int) -> list[Run]:
        return [Run("a", {"accuracy": np.array([float(self.seed), trial])})]


def filled(folder: Path) -> Store:
    store = Store(folder)
    arrays = {"picks": np.arange(3), "accuracy": np.array([0.1, 0.2])}
    store.save("set", 0, [Run(name, arrays) for name in "ab"], {"fingerprint": "f"})
    return store


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_no_flipped_bit_leaves_a_trial_finished(step, tmp_path):
    store = filled(tmp_path)
    path = store.path("set", 0)
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), step):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert store.check("set", 0, "f") == "damaged", bit
        with pytest.raises(InvalidArgument, match="a finished trial"):
            list(store.runs("set", 1, ("accuracy",)))


def test_a_trial_that_lost_its_arrays_is_damaged(tmp_path):
    from apm.storage import read_arrays, write_arrays

    store = filled(tmp_path)
    path = store.path("set", 0)
    meta, arrays = read_arrays(path, "a trial")
    for lost in arrays:
        kept = {name: array for name, array in arrays.items() if name != lost}
        write_arrays(path, meta, kept)
        assert store.check("set", 0, "f") == "damaged"
    write_arrays(path, {**meta, "methods": None}, arrays)
    assert store.check("set", 0, "f") == "damaged"


def test_damaged_trials_are_run_again(tmp_path):
    run_study(Study([Counting(1)]), tmp_path, progress=False)
    path = Store(tmp_path).path("set", 2)
    path.write_bytes(path.read_bytes()[:-1])
    done = run_study(Study([Counting(1)]), tmp_path, progress=False)
    assert done.ran == 1
    assert done.repaired == ("set/00002.npz",)


def test_trials_of_other_settings_do_not_reach_the_tables(tmp_path):
    plan, other = Counting(1), Counting(2)
    run_study(Study([plan]), tmp_path, progress=False)
    run_study(Study([other]), tmp_path / "other", progress=False)
    os.replace(Store(tmp_path / "other").path("set", 3), Store(tmp_path).path("set", 3))
    with pytest.raises(StoreError, match="other settings"):
        list(Store(tmp_path).runs("set", 6, ("accuracy",), fingerprint=plan.fingerprint()))
    with pytest.raises(StoreError, match="other settings"):
        run_study(Study([plan]), tmp_path, progress=False)


RACER = """
import sys, time
from tests.torture.test_store import Counting
from apm.studies.engine.study import Study, run_study
from channelcode.errors import ChannelCodeError

class Slow(Counting):
    def run(self, trial):
        print("running", flush=True)
        time.sleep(float(sys.argv[3]))
        return super().run(trial)

try:
    run_study(Study([Slow(int(sys.argv[2]))]), sys.argv[1], progress=False)
except ChannelCodeError as error:
    print(error, flush=True)
    sys.exit(3)
"""


def racer(folder: Path, seed: int, wait: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RACER, str(folder), str(seed), str(wait)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )


def test_studies_started_together_in_one_folder_do_not_mix(tmp_path):
    processes = [racer(tmp_path, seed, 0.2) for seed in (1, 2)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 3], outputs
    assert "another process" in outputs[codes.index(3)] or "other settings" in str(outputs)
    winner = 1 + codes.index(0)
    for runs in Store(tmp_path).runs("set", 6, ("accuracy",)):
        assert runs[0].arrays["accuracy"][0] == winner


def test_a_killed_study_is_in_nobodys_way(tmp_path):
    process = racer(tmp_path, 1, 60.0)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    with pytest.raises(StoreError, match="another process is running"):
        run_study(Study([Counting(1)]), tmp_path, progress=False)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert run_study(Study([Counting(1)]), tmp_path, progress=False).ran == 6


def test_two_threads_do_not_share_a_folder(tmp_path):
    store, seen = Store(tmp_path), []

    def second() -> None:
        try:
            with Store(tmp_path).held():
                seen.append("held")
        except StoreError:
            seen.append("refused")

    with store.held():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert seen == ["refused"]
    second()
    assert seen == ["refused", "held"]


@pytest.mark.parametrize(
    "text",
    [
        "null", "[]", "7", '{"fingerprints": null}', '{"fingerprints": [1]}', "", "\xff",
        '{"fingerprints": {"set": null}}', "[" * 100_000, '{"fingerprints": 3}',
    ],
    ids=lambda text: repr(text[:20]),
)  # fmt: skip
def test_a_description_that_is_none_is_no_traceback(text, tmp_path):
    (tmp_path / "study.json").write_bytes(text.encode("latin-1"))
    try:
        run_study(Study([Counting(1, 1)]), tmp_path, progress=False)
    except StoreError:
        assert "set" in text  # a fingerprint that is there, and another
    else:
        assert json.loads((tmp_path / "study.json").read_text())["fingerprints"]["set"]


@pytest.mark.parametrize("name", ["../up", "/etc", "a/b", "..", ".", "", "a\\b", "a\n", ".hidden"])
def test_names_that_leave_the_folder_are_refused(name, tmp_path):
    with pytest.raises(InvalidArgument, match="names"):
        Study([Counting(1, name=name)])
    with pytest.raises(InvalidArgument, match="names"):
        Store(tmp_path).path(name, 0)


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "'=1", "''"]
)
def test_formulas_in_tables_are_escaped_and_read_back(text, tmp_path):
    path = write_csv(tmp_path / "a.csv", ("name", text), [(text, 1.5), ("plain", -0.25)])
    assert [row["name"] for row in read_csv(path)] == [text, "plain"]
    assert [float(row[text]) for row in read_csv(path)] == [1.5, -0.25]
    import csv

    with path.open(newline="") as file:
        for row in csv.reader(file):
            assert not row[0].startswith(("=", "+", "-", "@", "\t"))
    with pytest.raises(InvalidArgument, match="carriage return"):
        write_csv(tmp_path / "b.csv", ("name",), [("\r" + text,)])
