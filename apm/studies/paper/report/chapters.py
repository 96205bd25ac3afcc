"""The sections of the report: comparison, costs, failure analysis, cross, information, beyond."""

from __future__ import annotations

from apm.studies.paper.claims.judges import mean_difference
from apm.studies.paper.methods import ABLATIONS, ADDITIONS, CURVE_METHODS
from apm.studies.paper.report.pictures import Pictures
from apm.studies.paper.report.published_costs import PUBLISHED
from apm.studies.paper.results import Sheet
from apm.studies.report.html import (
    Entry,
    gallery,
    heading,
    paragraph,
    show,
    subheading,
    table,
)

Sheets = dict[str, Sheet]
_COSTS = {
    "selection": "Selection alone",
    "posterior": "Variational posterior",
    "total": "Selection, posterior and retraining",
}


def comparison(sheets: Sheets, pictures: Pictures) -> list[str]:
    """Areas of all methods, ranks, and areas against Random."""
    methods = list(dict.fromkeys(m for sheet in sheets.values() for m in sheet.methods))
    rows = []
    for name, sheet in sheets.items():
        means = {method: float(areas.mean()) for method, areas in sheet.areas.items()}
        best = max(means.values())
        cells = [Entry(name)]
        for method in methods:
            kind = "best" if means.get(method) == best else ""
            text = f"{100 * means[method]:.1f}" if method in means else "–"
            cells.append(Entry(text, kind))
        rows.append(cells)
    parts = [
        heading("All methods compared", "comparison"),
        paragraph(
            "Area under the curve: mean test accuracy (%) over the first 40 queries; the best of "
            "each row is bold. Intervals and all paired differences are in `areas.csv` and "
            "`differences.csv`."
        ),
        table(["Data set", *methods], rows),
    ]
    if pictures.ranks is not None:
        parts.append(show(pictures.ranks, "medium"))
    if pictures.areas:
        parts.append(show(pictures.areas[0], "medium"))
    return parts


def costs(sheets: Sheets) -> list[str]:
    """The three cost tables beside the paper's."""
    parts = [
        heading("What it costs", "costs"),
        paragraph(
            "Median over trials of the CPU seconds for the first 40 queries; below each, the "
            "paper's published figure (Intel Xeon Gold 6226, 2.7 GHz) and how many times faster "
            "this is. The machines differ, too: part of the ratio is hardware."
        ),
    ]
    for kind, title in _COSTS.items():
        rows = []
        for name, sheet in sheets.items():
            cells = [Entry(name)]
            for method in (
                m for m in CURVE_METHODS if any(m in s.methods for s in sheets.values())
            ):
                if method not in sheet.methods:
                    cells.append(Entry("–"))
                    continue
                ours = sheet.cumulative_seconds(method)[kind]
                theirs = PUBLISHED[kind].get(name, {}).get(method)
                note = "" if theirs is None else f"{theirs:.3f} s, {theirs / max(ours, 1e-9):,.0f}×"
                cells.append(Entry(f"{1000 * ours:.2f} ms", note=note))
            rows.append(cells)
        shown = [m for m in CURVE_METHODS if any(m in s.methods for s in sheets.values())]
        parts += [subheading(title), table(["Data set", *shown], rows)]
    return parts


def failure(pictures: Pictures) -> list[str]:
    """The failure analysis on vehicle-cars."""
    if not pictures.failure:
        return []
    legend = [] if pictures.failure_legend is None else [show(pictures.failure_legend, "legend")]
    return [
        heading("vehicle-cars: why exploration helps", "failure"),
        paragraph(
            "The paper's failure analysis over the whole pool, with APM-LR's two terms alone: "
            f"{ABLATIONS[0]} (exploitation) and {ABLATIONS[1]} (exploration). Means over trials."
        ),
        *legend,
        gallery(pictures.failure),
    ]


def cross(pictures: Pictures) -> list[str]:
    """The illustration of the cross set."""
    if pictures.cross is None:
        return []
    return [heading("cross: how Uncertainty goes wrong", "cross"), show(pictures.cross, "wide")]


def information(pictures: Pictures) -> list[str]:
    """Bits per query."""
    if not pictures.information:
        return []
    return [
        heading("Information per query", "information"),
        paragraph(
            "What each label was expected to tell about the weights. The capacity is that of the "
            "logistic channel at the largest power of any candidate, which is valid for all of "
            "them; the bounds prove how much better the best candidate could have been, without "
            "looking at it."
        ),
        gallery(pictures.information),
    ]


def beyond(sheets: Sheets, pictures: Pictures) -> list[str]:
    """What goes beyond the paper, and where it fails."""
    added = [m for m in ADDITIONS if all(m in sheet.methods for sheet in sheets.values())]
    if not added or not all("APM-LR" in sheet.methods for sheet in sheets.values()):
        return []
    rows = []
    for method in added:
        found = mean_difference(sheets, method, "APM-LR")
        lead = sum(sheet.difference(method, "APM-LR").low > 0 for sheet in sheets.values())
        lag = [n for n, sheet in sheets.items() if sheet.difference(method, "APM-LR").high < 0]
        cells = [method, str(found), f"{lead} of {len(sheets)}"]
        rows.append([*cells, Entry(", ".join(lag) or "none", "text")])
    return [
        heading("Beyond the paper", "beyond"),
        paragraph(
            "InfoGain-exact integrates the information gain instead of drawing 100 samples; EPIG "
            "asks for information about predictions on the pool instead of about the weights."
        ),
        table(["Method", "Mean area − APM-LR", "Sets ahead of APM-LR", "Sets behind APM-LR"], rows),
        *(show(figure, "medium") for figure in pictures.areas[1:]),
    ]
