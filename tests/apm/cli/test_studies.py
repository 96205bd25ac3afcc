"""`apm reproduce`, `apm study`, `apm datasets` as a person types them."""

import pytest
from typer.testing import CliRunner

from apm.cli import app
from apm.studies import list_datasets


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_datasets_are_listed():
    result = run("datasets")
    assert result.exit_code == 0
    assert result.output.split() == list(list_datasets())


def test_a_small_reproduction_writes_its_report(tmp_path):
    result = run(
        "reproduce", "--out", str(tmp_path / "r"), "--trials", "2", "--queries", "3",
        "--dataset", "cross", "--method", "APM-LR", "--method", "Random",
        "--workers", "1", "--no-progress",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    report = tmp_path / "r" / "report.html"
    assert str(report) in result.output.replace("\n", "")
    assert "APM-LR" in report.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--dataset", "letterDQ"], "did you mean letterDP"),
        (["reproduce", "--dataset", "cross", "--method", "APMLR"], "APM-LR"),
        (["reproduce", "--dataset", "cross", "--trials", "0"], "trials"),
        (["study", "binary"], "must be 'multiclass' or 'rule'"),
    ],
)
def test_mistakes_give_one_line_and_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_ctrl_c_says_how_to_go_on(monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("apm.studies.reproduce", interrupted)
    result = run("reproduce", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "continues where it was" in result.output


def test_a_sweep_writes_its_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "--channel", "logistic", "--channel", "probit", "--power", "4", "--points"]
    done = run(*words, "2")
    assert done.exit_code == 0
    assert "table: capacities.csv" in done.output
    rows = (tmp_path / "capacities.csv").read_text().splitlines()
    assert rows[0] == "channel,power,bits,lower,upper"
    assert [row.split(",")[0] for row in rows[1:]] == ["logistic"] * 2 + ["probit"] * 2
    assert run(*words, "1").exit_code == 2
