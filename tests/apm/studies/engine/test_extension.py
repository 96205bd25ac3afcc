"""More methods for trials that are there: the same as run at once, and on record as later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from apm.studies.engine.extension import earlier_marks, lacking
from apm.studies.engine.store import Store, StoreError
from apm.studies.engine.study import Study, run_study
from apm.studies.engine.trial import Run
from apm.studies.multiclass.run import run_multiclass
from apm.studies.paper.protocol import PaperPlan
from tests.apm.studies.conftest import small_dataset
from tests.apm.studies.engine.test_study import contents

FIRST = ("APM-LR", "Random", "InfoGain")
# "APM-matched" last, a method with draws of its own in the middle: order and streams both count
ALL = ("APM-LR", "BALD", "Random", "InfoGain", "APM-matched")


def assert_same(one: Path, other: Path) -> None:
    """All arrays, but for the seconds that they took and the record of when each was made."""
    first, second = contents(one), contents(other)
    assert first.keys() == second.keys()
    for path, arrays in first.items():
        assert arrays.keys() == second[path].keys()
        assert list(arrays) == list(second[path])  # in the order of the plan
        for name in arrays.keys() - {"header"}:
            np.testing.assert_array_equal(arrays[name], second[path][name], err_msg=path + name)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_extended_is_run_at_once(
    tmp_path: Path, make_study: Callable[..., Study], workers: int
) -> None:
    run_study(make_study(methods=FIRST), tmp_path / "grown", progress=False)
    kept = Store(tmp_path / "grown").content("small", 0)[1]
    outcome = run_study(
        make_study(methods=ALL), tmp_path / "grown", workers=workers, progress=False, extend=True
    )
    assert (outcome.found, outcome.ran, outcome.extended) == (0, 6, 6)
    run_study(make_study(methods=ALL), tmp_path / "whole", progress=False)
    assert_same(tmp_path / "grown", tmp_path / "whole")
    meta, now = Store(tmp_path / "grown").content("small", 0)
    assert meta["methods"] == list(ALL)
    for name, values in kept.items():  # seconds too: what was there was not run again
        np.testing.assert_array_equal(now[name], values)
    again = run_study(make_study(methods=ALL), tmp_path / "grown", progress=False)
    assert (again.found, again.ran, again.extended) == (6, 0, 0)


def test_the_file_says_what_was_run_when(tmp_path: Path, make_study: Callable[..., Study]) -> None:
    first, second = make_study(methods=FIRST), make_study(methods=(*FIRST, "BALD"))
    run_study(first, tmp_path, progress=False)
    store = Store(tmp_path)
    meta, arrays = store.content("small", 0)
    old = {**meta, "versions": {"channelcode": "an older one"}}
    runs = next(store.runs("small", 1, tuple({name.split("/")[1] for name in arrays})))
    store.save("small", 0, runs, {k: v for k, v in old.items() if k not in ("methods", "arrays")})
    run_study(second, tmp_path, progress=False, extend=True)
    run_study(make_study(methods=(*FIRST, "BALD", "EPIG")), tmp_path, progress=False, extend=True)
    found = store.meta("small", 0) or {}
    assert found["versions"] == {"channelcode": "an older one"}  # of the first methods
    assert [step["methods"] for step in found["extended"]] == [["BALD"], ["EPIG"]]
    marks = [first.plans[0].fingerprint(), second.plans[0].fingerprint()]
    assert [step["fingerprint"] for step in found["extended"]] == marks
    assert {"numpy", "source"} <= found["extended"][0]["versions"].keys()
    described = json.loads((tmp_path / "study.json").read_text())
    assert described["plans"][0]["methods"] == [*FIRST, "BALD", "EPIG"]


def test_an_extension_goes_on_after_a_stop(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_study(make_study(methods=FIRST), tmp_path / "one", progress=False)
    real, saved = Store.save, []

    def stop(self: Store, *args: object) -> None:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(args)
        real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        run_study(make_study(methods=ALL), tmp_path / "one", progress=False, extend=True)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="other settings"):  # four of the six still lack methods
        run_study(make_study(methods=ALL), tmp_path / "one", progress=False)
    path = tmp_path / "one" / "trials" / "small" / "00002.npz"
    path.write_bytes(path.read_bytes()[:100])
    outcome = run_study(make_study(methods=ALL), tmp_path / "one", progress=False, extend=True)
    assert (outcome.found, outcome.extended, outcome.repaired) == (2, 3, ("small/00002.npz",))
    run_study(make_study(methods=ALL), tmp_path / "two", progress=False)
    assert_same(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"queries": 7}, {"methods": ("Random",)}, {"methods": ("BALD", "EPIG")}],
    ids=["seed", "queries", "fewer", "others"],
)
def test_other_settings_are_not_extended(
    tmp_path: Path, make_study: Callable[..., Study], change: dict[str, object]
) -> None:
    run_study(make_study(methods=FIRST), tmp_path, progress=False)
    wanted = make_study(**{"methods": ALL, **change})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="other settings"):
        run_study(wanted, tmp_path, progress=False, extend=True)
    with pytest.raises(StoreError, match="other settings"):  # and never unasked
        run_study(make_study(methods=ALL), tmp_path, progress=False)


def test_trials_that_begin_elsewhere_are_refused(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    """The accuracy before the first query must be that of this version's split and first labels."""
    run_study(make_study(methods=FIRST), tmp_path, progress=False)
    store = Store(tmp_path)
    meta, arrays = store.content("small", 0)
    runs = [
        Run(name, {"accuracy": np.append(arrays[f"{name}/accuracy"][0] + 0.1, np.zeros(6))})
        for name in meta["methods"]
    ]
    store.save("small", 0, runs, {k: meta[k] for k in ("trial", "fingerprint", "versions")})
    with pytest.raises(StoreError, match="does not begin where this version begins"):
        run_study(make_study(methods=ALL), tmp_path, progress=False, extend=True)


def test_brief_methods_stay_brief(tmp_path: Path) -> None:
    def study(methods: tuple[str, ...], brief: tuple[str, ...]) -> Study:
        data = small_dataset(rows=120)
        return Study([PaperPlan(data, methods, 45, brief=brief, trials=1)])

    run_study(study(("Random", "EPIG"), ("EPIG",)), tmp_path / "grown", progress=False)
    later = study(("Random", "EPIG", "APM-matched"), ("EPIG", "APM-matched"))
    run_study(later, tmp_path / "grown", progress=False, extend=True)
    run_study(later, tmp_path / "whole", progress=False)
    assert_same(tmp_path / "grown", tmp_path / "whole")
    arrays = Store(tmp_path / "grown").content("small", 0)[1]
    assert len(arrays["APM-matched/picks"]) == 40


def test_what_a_trial_lacks(tmp_path: Path, make_study: Callable[..., Study]) -> None:
    plan = make_study(methods=ALL).plans[0]
    store = Store(tmp_path)
    assert lacking(store, plan, 0) is None
    assert earlier_marks(store, plan, plan.fingerprint()) == frozenset()
    first = make_study(methods=FIRST)
    run_study(first, tmp_path, progress=False)
    rest = lacking(store, plan, 0)
    assert rest is not None
    assert list(rest.methods) == ["BALD", "APM-matched"]
    assert earlier_marks(store, plan, plan.fingerprint()) == {first.plans[0].fingerprint()}


def test_the_study_of_many_classes_is_extended(tmp_path: Path) -> None:
    options = {"workers": 1, "seeds": 1, "progress": False, "labels": 3}
    cells = ["vehicle-standardised-1"]
    first = ("random", "margin", "APM pair, predictions")
    matched = (*first, "APM pair, predictions, matched")
    run_multiclass(tmp_path / "grown", cells=cells, methods=first, **options)  # type: ignore[arg-type]
    run_multiclass(tmp_path / "grown", cells=cells, methods=matched, extend=True, **options)  # type: ignore[arg-type]
    run_multiclass(tmp_path / "whole", cells=cells, methods=matched, **options)  # type: ignore[arg-type]
    assert_same(tmp_path / "grown", tmp_path / "whole")
    areas = [(tmp_path / name / "results" / "areas.csv").read_text() for name in ("grown", "whole")]
    assert areas[0] == areas[1]
