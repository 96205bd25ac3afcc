from __future__ import annotations

import os

from typer.testing import CliRunner

from apm.cli import app
from channelcode.feedback import Horstein

RUN = CliRunner()


def run(*arguments: str, code: int = 0, given: str | None = None) -> str:
    done = RUN.invoke(app, arguments, input=given)
    assert done.exit_code == code, done.output
    return done.output


def test_transmit(tmp_path):
    picture = tmp_path / "waterfall.png"
    said = run(
        "transmit", "--channel", "logistic", "--power", "4", "--bits", "24", "--error", "1e-3",
        "--seed", "0", "--plot", str(picture),
    )  # fmt: skip
    assert ": right" in said
    assert "0.472934659 bits a use" in said
    assert picture.stat().st_size > 5000
    again = run("transmit", "--channel", "logistic", "--power", "4", "--bits", "24", "--seed", "0")
    assert again.splitlines()[2:6] == said.splitlines()[2:6]


def test_transmit_says_what_is_wrong():
    assert "power must be given" in run("transmit", "--channel", "logistic", code=2)
    assert "message must be one of" in run(
        "transmit", "--channel", "bsc:0.1", "--bits", "4", "--message", "16", code=2
    )
    assert "bits must be" in run("transmit", "--channel", "bsc:0.1", "--bits", "0", code=2)
    said = run("transmit", "--channel", "z:0.5", "--bits", "8", "--seed", "1", "--uses", "5")
    assert "uses        5;" in said
    # eight bits in five uses would be five times the capacity: nothing was decoded
    assert "not known yet" in said
    assert "none yet" in said
    assert "% of the capacity" not in said
    too_many = run("transmit", "--channel", "bsc:0.1", "--bits", "1000000000000", code=2)
    assert "bits must be from 1" in too_many


def test_bisect_finds_a_threshold_and_goes_on(tmp_path):
    file = tmp_path / "search.json"
    options = ("bisect", "--low", "0", "--high", "16", "--width", "1", "--noise", "0.05",
               "--error", "0.01", "--file", str(file))  # fmt: skip
    said = run(*options, given="n\nwhat\ny\nu\nq\n")
    assert "is it above 8?" in said
    assert "not settled" in said
    assert "answer y or n" in said
    scheme, said_so_far = Horstein(0.05), [0]
    state = scheme.update(scheme.start(messages=16), 0)
    while state.error_bound > 0.01:
        said_so_far.append(int(state.cuts[0] < 7.3))
        state = scheme.update(state, said_so_far[-1])
    said = run(*options, given="".join("ny"[answer] + "\n" for answer in said_so_far[1:]))
    assert "going on after 1 answers" in said
    assert "[7, 8]" in said
    assert "not settled" not in said
    assert "must be of the same search" in run(*options[:-2], "--noise", "0.2", "--file", str(file),
                                               code=2)  # fmt: skip


def test_bisect_says_what_is_wrong(tmp_path):
    base = ("bisect", "--low", "0", "--high", "16")
    assert "width must be" in run(*base, "--width", "0", code=2)
    for noise in ("0.6", "0", "nan"):
        assert "noise must lie" in run(*base, "--width", "1", "--noise", noise, code=2)
    assert "questions must be" in run(*base, "--width", "1", "--questions", "-1", code=2)
    # steps beyond counting, and steps below the digits of the ends
    for low, high, width in (("0", "1e300", "1e-300"), ("-1e308", "1e308", "1"),
                             ("0", "1", "1e-9")):  # fmt: skip
        said = run("bisect", f"--low={low}", "--high", high, "--width", width, code=2)
        assert "width must leave at most" in said
    far = ("bisect", "--low", "1e18", "--high", "1000000000000010000")
    assert "wider than the digits" in run(*far, "--width", "1", code=2)
    assert "high must be above" in run(
        "bisect", "--low", "3", "--high", "1", "--width", "1", code=2
    )
    assert "must be finite" in run("bisect", "--low", "0", "--high", "inf", "--width", "1", code=2)
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    assert "must be of apm bisect" in run(*base, "--width", "1", "--file", str(bad), code=2)
    bad.write_text("[" * 100_000)
    assert "must be of apm bisect" in run(*base, "--width", "1", "--file", str(bad), code=2)
    # a pipe and a device, which would be read for ever, and a folder
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        assert "file must be a file" in run(*base, "--width", "1", "--file", place, code=2)


def test_bisect_shows_the_digits_that_matter():
    """Nine digits were the same for every question here."""
    said = run("bisect", "--low", "1e9", "--high", "1000000001", "--width", "0.001", given="y\ny\n")
    assert "is it above 1000000000.5?" in said
    assert "is it above 1000000000.722?" in said
