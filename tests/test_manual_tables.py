"""Tables of the manual that benchmarks made: each number is that of the committed file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"


def rows_of(name: str) -> list[dict[str, str]]:
    with (DOCS / "results" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_evidence() -> None:
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    rows = rows_of("evidence.csv")
    assert len(rows) == 23 * 3
    for two in (True, False):
        for labels in ("20", "50", "100"):
            cells = [r for r in rows if (r["classes"] == "2") is two and r["labels"] == labels]
            change = np.array([float(r["difference"]) for r in cells])
            error = 2 * np.array([float(r["error"]) for r in cells])
            ratio = np.array([float(r["evidence"]) / float(r["one"]) for r in cells])
            best, worst = (
                cells[int(place)]["dataset"] for place in (ratio.argmin(), ratio.argmax())
            )
            line = (
                f"| {'two' if two else 'more'} | {labels} "
                f"| {np.sum(change < -error)} of {len(cells)} "
                f"| {np.sum(change > error)} | {change.mean():+.3f} "
                f"| {np.exp(np.log(ratio).mean()):.2f} | {best} {ratio.min():.2f} "
                f"| {worst} {ratio.max():.2f} |"
            )
            assert line in text


def test_the_tables_of_false_stops() -> None:
    text = (DOCS / "stopping.md").read_text(encoding="utf-8")
    rows = rows_of("stopping.csv")
    assert len({r["dataset"] for r in rows}) == 23
    for more in (False, True):
        for rule in dict.fromkeys(r["rule"] for r in rows):
            trials = [r for r in rows if r["rule"] == rule and (int(r["classes"]) > 2) is more]
            stops = [r for r in trials if r["stopped"] == "1"]
            if not stops:
                continue
            early = sum(r["false"] == "1" for r in stops)
            lost = [float(r["final"]) - float(r["accuracy"]) for r in stops]
            share = f" ({early / len(stops):.0%})" if early else ""
            line = f"| `{rule}` | {len(stops)} | {early}{share} |"
            assert f"{line} {np.median([int(r['labels']) for r in stops]):.0f} |" in text
            assert f"| {max(lost):.3f} |".replace("0.", ".", 1) in text
