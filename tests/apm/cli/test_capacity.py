"""`apm capacity` as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from apm.cli import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["capacity", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_prints_value_bounds_atoms_and_reason():
    text = run("--channel", "logistic", "--power", "4")
    for part in ("0.472934658997 bits", "proved", "gap", "whole real line", "2 atoms", "dC/dP"):
        assert part in text


@pytest.mark.parametrize("channel", ["softmax:5", "ordinal:-1,1", "bsc:0.11"])
def test_other_channels(channel):
    assert "proved" in run("--channel", channel, "--power", "4")


def test_json_matches_the_library():
    from channelcode import Logistic, Power
    from channelcode.capacity import capacity

    told = json.loads(run("--channel", "logistic", "--power", "1", "--json"))
    result = capacity(Logistic(), Power(1.0))
    assert told["bits"] == result.bits
    assert told["atoms"] == result.input.atoms.tolist()
    assert told["lower"] <= told["bits"] <= told["upper"]


def test_matrix_file_without_constraint(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text("[[0.9, 0.1], [0.1, 0.9]]")
    assert "0.531004406" in run("--channel", str(path))  # 1 - h_b(0.1)


def test_plots(tmp_path):
    one, curve = tmp_path / "deep" / "one.png", tmp_path / "curve.svg"
    run("--channel", "ordinal:-1,1", "--power", "16", "--plot", str(one))
    run(
        "--channel",
        "ordinal:-1,1",
        "--power",
        "16",
        "--curve",
        "--points",
        "8",
        "--plot",
        str(curve),
    )
    assert one.stat().st_size > 5_000
    assert curve.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--channel", "nonsense"], "channel must be"),
        (["--power", "-1"], "power must be non-negative"),
        (["--power", "nan"], "power"),
        (["--curve"], "power must be the largest power"),
        (["--curve", "--power", "4", "--points", "1"], "points must be at least 2"),
        (["--power", "4", "--plot", "figure.xyz"], "plot must end in one of png, svg, pdf"),
    ],
)
def test_mistakes_give_one_line_and_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["capacity", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
