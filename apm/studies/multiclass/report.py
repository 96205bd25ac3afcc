"""One HTML page and its figures from the committed numbers."""

from __future__ import annotations

from pathlib import Path

from apm.studies.engine.store import write_whole
from apm.studies.multiclass.methods import DEFAULT
from apm.studies.multiclass.protocol import CHOSEN_ON, Cell
from apm.studies.multiclass.results import RIVALS, Outcomes, read_results
from apm.studies.report.html import (
    Entry,
    gallery,
    heading,
    page,
    paragraph,
    show,
    table,
    title,
)
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
        title("Multi-class study"),
        paragraph(
            f"{len(outcomes.cells)} cells, {len(outcomes.methods)} methods. The rule under test is "
            f"“{DEFAULT}”; it was chosen on {', '.join(CHOSEN_ON)} and left untouched on "
            "the other data sets. Area is the mean test accuracy over the labels asked."
        ),
        *_verdicts(outcomes),
        heading("Areas"),
        _areas(outcomes),
    ]
    if len(outcomes.cells) > 1:
        ranks = rank_figure(outcomes.ranks(), figures, name="multiclass-ranks")
        body += [heading("Ranks"), show(ranks, "medium")]
    body += [heading("Learning curves"), gallery(curves_figures(outcomes, figures))]
    body += [heading("Cost of one selection"), _seconds(outcomes)]
    path = folder / "multiclass.html"
    write_whole(path, page("Multi-class study", body).encode())
    return path


def _verdicts(outcomes: Outcomes) -> list[str]:
    rows = []
    for cell in outcomes.cells:
        found = outcomes.compare(cell, DEFAULT)
        rows.append(
            (
                cell.name + ("" if cell.fresh else " *"),
                found.rival,
                f"{outcomes.mean(cell, found.rival):.4f}",
                f"{outcomes.mean(cell, DEFAULT):.4f}",
                str(found.difference),
                Entry(found.verdict, "" if found.verdict == "tie" else "best"),
            )
        )
    tallies = []
    for name in outcomes.methods:
        if name in RIVALS:
            continue
        counts = [outcomes.tally(name), outcomes.tally(name, fresh=True)]
        tallies.append((name, *(" / ".join(map(str, count)) for count in counts)))
    header = ("cell", "best of margin, Bayesian margin, EPIG", "its area", "area of the rule")
    return [
        heading("The rule against the best rival of each cell"),
        table((*header, "paired difference, 95 % interval", "verdict"), rows),
        paragraph("* the rule was chosen on this data set."),
        heading("Wins, ties and losses against the best rival"),
        table(("method", "all cells", "fresh data sets"), tallies),
    ]


def _areas(outcomes: Outcomes) -> str:
    rows = []
    for cell in outcomes.cells:
        best = max(outcomes.methods, key=lambda name, c=cell: outcomes.mean(c, name))
        values = [
            Entry(f"{outcomes.mean(cell, name):.3f}", "best" if name == best else "")
            for name in outcomes.methods
        ]
        rows.append((cell.name, *values))
    return table(("cell", *outcomes.methods), rows)


def _seconds(outcomes: Outcomes) -> str:
    rows = [
        (
            cell.name,
            *(f"{1e3 * outcomes.seconds[cell][name]:.2f}" for name in outcomes.methods),
        )
        for cell in outcomes.cells
    ]
    header = ("cell (milliseconds of CPU, median)", *outcomes.methods)
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
