"""The sections of the report: comparison, costs, failure analysis, cross, information, beyond."""

from __future__ import annotations

from html import escape

from apm.studies.paper.claims.judges import mean_difference
from apm.studies.paper.methods import ABLATIONS, ADDITIONS, CURVE_METHODS
from apm.studies.paper.report.pictures import Pictures
from apm.studies.paper.report.published_costs import PUBLISHED
from apm.studies.paper.results import Sheet
from apm.studies.report.html import gallery, show, table

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


def costs(sheets: Sheets) -> list[str]:
    """The three cost tables beside the paper's."""
    parts = [
        "<h2 id='costs'>What it costs</h2>",
        "<p>Median over trials of the CPU seconds for the first 40 queries; below each, the "
        "paper's published figure (Intel Xeon Gold 6226, 2.7 GHz) and how many times faster this "
        "is. The machines differ, too: part of the ratio is hardware.</p>",
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


def failure(pictures: Pictures) -> list[str]:
    """The failure analysis on vehicle-cars."""
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


def cross(pictures: Pictures) -> list[str]:
    """The illustration of the cross set."""
    if pictures.cross is None:
        return []
    return ["<h2 id='cross'>cross: how Uncertainty goes wrong</h2>", show(pictures.cross, "wide")]


def information(pictures: Pictures) -> list[str]:
    """Bits per query."""
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
        cells = [escape(method), escape(str(found)), f"{lead} of {len(sheets)}"]
        rows.append([*cells, f'<td class="text">{escape(", ".join(lag)) or "none"}</td>'])
    return [
        "<h2 id='beyond'>Beyond the paper</h2>",
        "<p>InfoGain-exact integrates the information gain instead of drawing 100 samples; EPIG "
        "asks for information about predictions on the pool instead of about the weights.</p>",
        table(["Method", "Mean area − APM-LR", "Sets ahead of APM-LR", "Sets behind APM-LR"], rows),
        *(show(figure, "medium") for figure in pictures.areas[1:]),
    ]
