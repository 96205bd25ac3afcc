"""Every number of the report as plain CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.engine.statistics import Ranks, bootstrap_interval, standard_error
from apm.studies.engine.tables import Row, write_csv
from apm.studies.paper.claims.verdicts import Finding
from apm.studies.paper.report.published_costs import PUBLISHED
from apm.studies.paper.results import FAILURE, INFORMATION, Sheet

Sheets = dict[str, Sheet]


def curve_rows(sheets: Sheets) -> Iterable[Row]:
    """Mean and standard error of the test accuracy, query by query."""
    for name, sheet in sheets.items():
        for method in sheet.methods:
            values = sheet.of(method, "accuracy")
            errors = standard_error(values)
            for query, (mean, error) in enumerate(zip(values.mean(axis=0), errors, strict=True)):
                if np.isnan(mean):
                    break
                yield name, method, query, mean, error, len(values)


def area_rows(sheets: Sheets) -> Iterable[Row]:
    """The area under the curve of each method with its bootstrap interval."""
    for name, sheet in sheets.items():
        for method, areas in sheet.areas.items():
            found = bootstrap_interval(areas)
            yield name, method, found.estimate, found.low, found.high, len(areas)


def difference_rows(sheets: Sheets) -> Iterable[Row]:
    """Paired differences of areas for all pairs of methods."""
    for name, sheet in sheets.items():
        for first, second in combinations(sheet.methods, 2):
            found = sheet.difference(first, second)
            won = np.mean(sheet.areas[first] > sheet.areas[second])
            yield name, first, second, found.estimate, found.low, found.high, float(won)


def cost_rows(sheets: Sheets) -> Iterable[Row]:
    """The three cost tables beside the paper's published figures."""
    for name, sheet in sheets.items():
        for method in sheet.methods:
            seconds = sheet.cumulative_seconds(method)
            for kind in ("selection", "posterior", "total"):
                published = PUBLISHED[kind].get(name, {}).get(method)
                ratio = "" if published is None else published / max(seconds[kind], 1e-9)
                yield kind, name, method, seconds[kind], published or "", ratio


def step_rows(sheets: Sheets, names: Sequence[str]) -> Iterable[Row]:
    """Means over trials of further measures, query by query."""
    for name, sheet in sheets.items():
        for measure in names:
            if measure not in sheet.arrays:
                continue
            for method in sheet.methods:
                values = sheet.of(method, measure)
                filled = ~np.isnan(values).all(axis=0)
                for query in np.flatnonzero(filled):
                    yield name, method, measure, query + 1, float(np.nanmean(values[:, query]))


def write_tables(
    sheets: Sheets, ranks: Ranks | None, findings: list[Finding], folder: Path
) -> list[Path]:
    """Write all tables into `folder` and return their paths."""
    interval = ("low", "high")
    steps = ("dataset", "method", "measure", "query", "mean")
    paths = [
        write_csv(
            folder / "curves.csv",
            ("dataset", "method", "query", "accuracy", "standard_error", "trials"),
            curve_rows(sheets),
        ),
        write_csv(
            folder / "areas.csv",
            ("dataset", "method", "area", *interval, "trials"),
            area_rows(sheets),
        ),
        write_csv(
            folder / "differences.csv",
            ("dataset", "first", "second", "difference", *interval, "share_first_ahead"),
            difference_rows(sheets),
        ),
        write_csv(
            folder / "costs.csv",
            ("table", "dataset", "method", "seconds", "published_seconds", "times_faster"),
            cost_rows(sheets),
        ),
        write_csv(folder / "failure.csv", steps, step_rows(sheets, FAILURE)),
        write_csv(folder / "information.csv", steps, step_rows(sheets, INFORMATION)),
        write_csv(
            folder / "claims.csv",
            ("claim", "place", "verdict", "number", *interval, "measure"),
            ((f.claim, f.place, f.verdict, *_ends(f), f.measure) for f in findings),
        ),
    ]
    if ranks is not None:
        rows = zip(ranks.methods, ranks.average, strict=True)
        paths.append(write_csv(folder / "ranks.csv", ("method", "average_rank"), rows))
    return paths


def _ends(finding: Finding) -> tuple[Any, Any, Any]:
    number = finding.number
    return ("", "", "") if number is None else (number.estimate, number.low, number.high)
