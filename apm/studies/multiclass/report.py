"""One HTML page and its figures from the committed numbers."""

from __future__ import annotations

from html import escape
from pathlib import Path

from apm.studies.engine.store import write_whole
from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.protocol import CHOSEN_ON, Cell
from apm.studies.multiclass.results import RIVALS, Outcomes, read_results
from apm.studies.report.html import gallery, page, show, table
from apm.studies.report.ranks import rank_figure
from apm.studies.report.style import INK, Figure, dress, dress_legend, finish, new_figure

# Okabe and Ito's palette; dashes carry the difference where colours do not.
LOOKS: dict[str, tuple[str, object]] = {
    "random": (INK, (0, (6, 2, 1, 2))),
    "margin": ("#D55E00", (0, (5, 1.5))),
    "Bayesian margin": ("#CC79A7", (0, (3, 1, 1, 1))),
    "EPIG": ("#882E2E", (0, (1.2, 1))),
    "BALD": ("#009E73", (0, (8, 2))),
    "APM all classes": ("#8C6D1F", (0, (4, 1, 1, 1, 1, 1))),
    DEFAULT: ("#0072B2", "-"),
}


def write_page(results: str | Path, out: str | Path) -> Path:
    """Write `multiclass.html` and the figures into `out` from the files in `results`."""
    outcomes = read_results(results)
    folder = Path(out)
    figures = folder / "figures"
    body = [
        "<h1>Multi-class study</h1>",
        f"<p>{len(outcomes.cells)} cells, {len(outcomes.methods)} methods. The rule under test is "
        f"<b>{escape(DEFAULT)}</b>; it was chosen on {', '.join(CHOSEN_ON)} and left untouched on "
        "the other data sets. Area is the mean test accuracy over the labels asked.</p>",
        *_verdicts(outcomes),
        "<h2>Areas</h2>",
        _areas(outcomes),
    ]
    if len(outcomes.cells) > 1:
        ranks = rank_figure(outcomes.ranks(), figures, name="multiclass-ranks")
        body += ["<h2>Ranks</h2>", show(ranks, "medium")]
    body += ["<h2>Learning curves</h2>", gallery(curves_figures(outcomes, figures))]
    body += ["<h2>Cost of one selection</h2>", _seconds(outcomes)]
    path = folder / "multiclass.html"
    write_whole(path, page("Multi-class study", body).encode())
    return path


def _verdicts(outcomes: Outcomes) -> list[str]:
    rows = []
    for cell in outcomes.cells:
        found = outcomes.compare(cell, DEFAULT)
        rows.append(
            (
                escape(cell.name) + ("" if cell.fresh else " *"),
                escape(found.rival),
                f"{outcomes.mean(cell, found.rival):.4f}",
                f"{outcomes.mean(cell, DEFAULT):.4f}",
                escape(str(found.difference)),
                f"<b>{found.verdict}</b>" if found.verdict != "tie" else "tie",
            )
        )
    tallies = []
    for name in outcomes.methods:
        if name in RIVALS:
            continue
        counts = [outcomes.tally(name), outcomes.tally(name, fresh=True)]
        tallies.append((escape(name), *(" / ".join(map(str, count)) for count in counts)))
    header = ("cell", "best of margin, Bayesian margin, EPIG", "its area", "area of the rule")
    return [
        "<h2>The rule against the best rival of each cell</h2>",
        table((*header, "paired difference, 95 % interval", "verdict"), rows),
        "<p>* the rule was chosen on this data set.</p>",
        "<h2>Wins, ties and losses against the best rival</h2>",
        table(("method", "all cells", "fresh data sets"), tallies),
    ]


def _areas(outcomes: Outcomes) -> str:
    rows = []
    for cell in outcomes.cells:
        best = max(outcomes.methods, key=lambda name, c=cell: outcomes.mean(c, name))
        values = [
            f"<b>{outcomes.mean(cell, name):.3f}</b>"
            if name == best
            else f"{outcomes.mean(cell, name):.3f}"
            for name in outcomes.methods
        ]
        rows.append((escape(cell.name), *values))
    return table(("cell", *map(escape, outcomes.methods)), rows)


def _seconds(outcomes: Outcomes) -> str:
    rows = [
        (
            escape(cell.name),
            *(f"{1e3 * outcomes.seconds[cell][name]:.2f}" for name in outcomes.methods),
        )
        for cell in outcomes.cells
    ]
    header = ("cell (milliseconds of CPU, median)", *map(escape, outcomes.methods))
    return table(header, rows)


def curves_figures(outcomes: Outcomes, folder: Path) -> list[Figure]:
    """One picture of learning curves for each cell."""
    return [_curves(outcomes, cell, folder) for cell in outcomes.cells]


def _curves(outcomes: Outcomes, cell: Cell, folder: Path) -> Figure:
    canvas, axis = new_figure(4.6, 3.4)
    for method, (colour, dashes) in LOOKS.items():
        if method not in outcomes.curves[cell]:
            continue
        asked, mean, error = outcomes.curves[cell][method].T
        axis.plot(asked, mean, color=colour, linestyle=dashes, linewidth=1.6, label=method)
        axis.fill_between(asked, mean - error, mean + error, color=colour, alpha=0.12, linewidth=0)
    dress(axis, title=cell.name, x="labels asked", y="test accuracy")
    dress_legend(axis.legend(fontsize=7))
    seeds = len(next(iter(outcomes.areas[cell].values())))
    caption = f"{cell.name}: mean test accuracy over {seeds} seeds, one standard error shaded."
    return finish(canvas, f"multiclass-{cell.name}", caption, folder)
