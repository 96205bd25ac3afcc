"""The outcome of the experiment in words and tables, for the manual."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from apm.studies.engine.statistics import Interval
from apm.studies.engine.tables import read_csv
from apm.studies.report.markdown import markdown_table
from apm.studies.rule.methods import RIVALS
from apm.studies.rule.run import read_areas
from apm.studies.rule.verdict import Comparison, Standing, decide, mean_difference

TABLES = ("areas.csv.gz", "seconds.csv", "standings.csv")
DEAREST = "BALD"  # what a selection is compared with


def standings_table(results: Path, kind: str) -> str:
    """Every candidate of a kind; areas in thousandths."""
    decision = decide(read_areas(results), kind)
    header = ("candidate", "lost", "won", "level or ahead", "mean lead", "to the present rule")
    rows = [_standing(each, decision.winner) for each in decision.standings]
    verdict = "It becomes the default." if decision.change else "The present rule stays."
    said = f"The winner is **{decision.winner}**. {verdict}"
    return f"{markdown_table(header, rows)}\n\n{said} {selection_seconds(results, kind)}"


def losses_table(results: Path, kind: str) -> str:
    """Where the winner is not level or ahead, from the worst on."""
    decision = decide(read_areas(results), kind)
    (best,) = (each for each in decision.standings if each.candidate == decision.winner)
    behind = [each for each in best.comparisons if not each.level_or_ahead]
    behind.sort(key=lambda each: each.difference.estimate)
    header = ("condition", "best rival", "difference, 90 % interval", "after Holm")
    return markdown_table(header, [_comparison(each) for each in behind])


def rivals_table(results: Path, kind: str) -> str:
    """The winner against each single rival: mean difference over data sets, 95 % interval."""
    areas = read_areas(results)
    winner = decide(areas, kind).winner
    rows = []
    for rival in RIVALS[kind]:
        found = mean_difference(areas, kind, winner, rival)
        rows.append((found.estimate, (rival, _interval(found))))
    rows.sort(key=lambda row: row[0])
    return markdown_table(("rival", "the winner less the rival"), [row for _, row in rows])


def selection_seconds(results: Path, kind: str) -> str:
    """What one selection of the winner costs beside BALD with 100 samples."""
    areas = read_areas(results)
    names = {each.name for each in areas if each.kind == kind}
    winner = decide(areas, kind).winner
    seconds: dict[str, dict[str, float]] = {}
    for row in read_csv(results / "seconds.csv"):
        if row["condition"] in names:
            seconds.setdefault(row["condition"], {})[row["method"]] = float(row["median_seconds"])
    ratios = [each[winner] / each[DEAREST] for each in seconds.values()]
    own = [1000 * each[winner] for each in seconds.values()]
    return (
        f"One selection takes {min(own):.1f} to {max(own):.1f} ms, {min(ratios):.2g} to "
        f"{max(ratios):.2g} times {DEAREST} with 100 samples (median {np.median(ratios):.2g})."
    )


def mechanisms_table(results: Path, data: str) -> str:
    """The ablations on one development set; differences of area in thousandths, standard errors."""
    found = [row for row in read_csv(results / "mechanisms.csv") if row["data"] == data]
    parts = ("difference", "early", "middle", "late")
    header = ["method", "accuracy", *parts]
    apart = any(row["distance"] for row in found)
    rows = []
    for row in found:
        errors = [row["error" if part == "difference" else f"error of {part}"] for part in parts]
        shown = [f"{float(row[p]):+.1f} ± {float(e):.1f}" for p, e in zip(parts, errors)]
        rows.append([row["method"], row["accuracy"], *shown, *([row["distance"]] * apart)])
    return markdown_table([*header, *(["distance of picks"] * apart)], rows)


def _standing(each: Standing, winner: str) -> tuple[str, ...]:
    name = f"**{each.candidate}**" if each.candidate == winner else each.candidate
    count = len(each.comparisons)
    level = f"{each.level} of {count}"
    lead, own = _interval(each.lead), _interval(each.against_present)
    return name, f"{each.lost} of {count}", str(each.won), level, lead, own


def _comparison(each: Comparison) -> tuple[str, ...]:
    return (
        each.condition.name,
        each.rival,
        _interval(each.difference),
        "lost" if each.lost else "not lost",
    )


def _interval(found: Interval) -> str:
    return f"{1000 * found.estimate:+.1f} [{1000 * found.low:+.1f}, {1000 * found.high:+.1f}]"
