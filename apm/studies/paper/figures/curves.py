"""Learning curves, the failure analysis, and information per query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.engine.statistics import standard_error
from apm.studies.paper.methods import CURVE_METHODS, PAPER_METHODS
from apm.studies.paper.protocol import QUERIES
from apm.studies.paper.results import Sheet
from apm.studies.report.style import Figure, dress, dress_legend, finish, look, new_figure
from channelcode._validation import Array

_PANEL = (4.6, 3.4)


def _draw(axis: Any, method: str, values: Array, *, first: int = 0, band: bool = True) -> None:
    """The mean over trials against the query number, with one standard error around it."""
    with np.errstate(invalid="ignore"):
        filled = ~np.isnan(values).all(axis=0)
    queries = np.arange(first, first + values.shape[1])[filled]
    kept = values[:, filled]
    mean = np.nanmean(kept, axis=0)
    style = look(method)
    axis.plot(
        queries, mean, color=style.colour, linestyle=style.dashes, marker=style.marker,
        markevery=max(1, len(queries) // 8), markersize=4, linewidth=1.5, label=method,
    )  # fmt: skip
    if band and not np.isnan(kept).any():
        error = standard_error(kept)
        axis.fill_between(
            queries, mean - error, mean + error, color=style.colour, alpha=0.18, linewidth=0
        )


def learning_curve(sheet: Sheet, folder: Path) -> Figure:
    """Test accuracy of the paper's six methods against the number of queries."""
    canvas, axis = new_figure(*_PANEL)
    shown = [name for name in CURVE_METHODS if name in sheet.methods] or list(sheet.methods)
    for method in shown:
        _draw(axis, method, sheet.of(method, "accuracy")[:, : QUERIES + 1])
    dress(axis, title=sheet.dataset, x="queries after the seeds", y="test accuracy")
    trials = sheet.arrays["accuracy"].shape[1]
    caption = f"{sheet.dataset}: mean test accuracy, ±1 standard error over {trials} trials."
    return finish(canvas, f"curve-{sheet.dataset}", caption, folder)


def legend(methods: tuple[str, ...], name: str, folder: Path) -> Figure:
    """The legend that all learning curves share."""
    canvas, axis = new_figure(4.6, 0.32 * ((len(methods) + 2) // 3) + 0.1)
    for method in methods:
        style = look(method)
        axis.plot(
            [], [], color=style.colour, linestyle=style.dashes, marker=style.marker, label=method
        )
    axis.set_axis_off()
    dress_legend(axis.legend(loc="center", ncols=3, fontsize=9, handlelength=3))
    return finish(canvas, name, "Legend of the learning curves.", folder)


_FAILURE = {
    "accuracy": ("Accuracy", "test accuracy", "Test accuracy until the pool is exhausted."),
    "distance": (
        "Exploitation",
        "distance of the pick",
        "Distance of the picked example from the estimated hyperplane; small means exploitation.",
    ),
    "maximin": (
        "Exploration: isolation",
        "maximin distance",
        "Largest distance of an unlabelled example from its nearest labelled one; small means "
        "exploration.",
    ),
    "gram": (
        "Exploration: diversity",
        "log-determinant",
        "Log-determinant of the Gram matrix of the latest d picks; large means exploration.",
    ),
}


def failure_figures(sheet: Sheet, folder: Path) -> list[Figure]:
    """Accuracy, hyperplane distance, maximin distance and Gram determinant over all queries."""
    found = []
    for name, (title, label, caption) in _FAILURE.items():
        if name not in sheet.arrays:
            continue
        canvas, axis = new_figure(*_PANEL)
        for method in PAPER_METHODS:
            if method in sheet.methods:
                first = 0 if name == "accuracy" else 1
                _draw(axis, method, sheet.of(method, name), first=first, band=False)
        dress(axis, title=title, x="queries after the seeds", y=label)
        found.append(finish(canvas, f"failure-{name}", f"{sheet.dataset}: {caption}", folder))
    return found


def information_figures(sheet: Sheet, folder: Path) -> list[Figure]:
    """Bits gained by each query beside the capacity, and the certified loss of APM-LR."""
    shown = [name for name in CURVE_METHODS if name in sheet.methods]
    canvas, axis = new_figure(*_PANEL)
    for method in shown:
        _draw(axis, method, sheet.of(method, "gain")[:, :QUERIES], first=1)
    dress(axis, title=sheet.dataset, x="query", y="information gained (bits)")
    caption = f"{sheet.dataset}: expected information of each label about the weights, in bits."
    figures = [finish(canvas, f"gain-{sheet.dataset}", caption, folder)]
    if "APM-LR" not in shown:
        return figures
    canvas, axis = new_figure(*_PANEL)
    lines = {
        "capacity": ("capacity C(P)", "#767676", "-"),
        "transport_bound": ("loss bounded by transport", "#E69F00", (0, (4, 1.5))),
        "bound": ("loss bounded by C − I", "#D55E00", (0, (1.2, 1))),
        "gain": ("bits gained", "#0072B2", "-"),
    }
    for name, (label, colour, dashes) in lines.items():
        mean = sheet.of("APM-LR", name)[:, :QUERIES].mean(axis=0)
        axis.plot(np.arange(1, len(mean) + 1), mean, color=colour, linestyle=dashes, label=label)
    axis.set_ylim(0, 1.32)
    axis.set_yticks(np.arange(0, 1.01, 0.2))
    dress(axis, title=f"{sheet.dataset}, APM-LR", x="query", y="bits")
    dress_legend(axis.legend(fontsize=8.5, ncols=2, loc="upper center"))
    caption = (
        f"{sheet.dataset}, APM-LR: bits gained, the capacity at the pool's largest power, and two "
        "proofs of how many bits the best candidate could have gained more (one at the capacity "
        "says nothing)."
    )
    return [*figures, finish(canvas, f"bound-{sheet.dataset}", caption, folder)]
