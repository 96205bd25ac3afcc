"""The paper's Figure 2: the cross set, its posterior, utilities and picks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.learner import Learner
from apm.studies.data.catalogue import Dataset
from apm.studies.engine.trial import Split, accuracy, make_split, started
from apm.studies.paper.methods import make_selector
from apm.studies.paper.protocol import model
from apm.studies.report.style import INK, Figure, dress, finish, new_figure
from apm.studies.streams import stream
from channelcode._validation import Array

QUERIES = 50
_CLASSES = (("#0072B2", "o"), ("#E69F00", "s"))
_GRID = 90


def central_trial(data: Dataset, *, seed: int, most: int = 100) -> tuple[int, Split]:
    """The first trial whose two seeds lie in the large clusters, as in the paper's figure."""
    first = make_split(data, 0, seed=seed)
    for trial in range(most):
        split = make_split(data, trial, seed=seed)
        if (np.abs(split.pool[split.seeds, 0]) < 0.7).all():
            return trial, split
    return 0, first


def cross_figure(data: Dataset, folder: Path, *, seed: int) -> Figure:
    """Pool, posterior, utilities at the start and after 50 queries, picks (2 x 4 panels)."""
    trial, split = central_trial(data, seed=seed)
    canvas, axes = new_figure(13.6, 7.0, nrows=2, ncols=4, sharex=True, sharey=True)
    _pool(axes[0, 0], split)
    accuracies = []
    for row, method in enumerate(("Uncertainty", "APM-LR")):
        rng = stream(seed, data.name, trial, "selector", method)
        learner = started(split, model(), make_selector(method), rng)
        if row == 0:
            draws = stream(seed, data.name, trial, "illustration")
            _posterior(axes[1, 0], learner.belief, draws)
        _utility(axes[row, 1], learner, split)
        dress(axes[row, 1], title=f"{method} utility\nat the start", grid=False)
        picks = learner.run(split.labels, QUERIES).indices
        right = accuracy(split.test, split.test_labels, learner.belief.posterior.map)
        accuracies.append(f"{method} {right:.3f}")
        _picks(axes[row, 2], split, picks, learner.belief)
        dress(axes[row, 2], title=f"{method}\n{QUERIES} queries")
        _utility(axes[row, 3], learner, split)
        dress(axes[row, 3], title=f"{method} utility\nafter {QUERIES} queries", grid=False)
    reach = 1.12 * np.abs(split.pool).max()
    for axis in axes.flat:
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    for axis in axes[1]:
        axis.set_xlabel("first feature", fontsize=10, color=INK)
    for axis in axes[:, 0]:
        axis.set_ylabel("second feature", fontsize=10, color=INK)
    caption = (
        f"The cross set, trial {trial} (the first whose seeds lie in the large clusters). Left: "
        "the pool with its labels; hyperplanes drawn from the posterior after the two seed labels, "
        "the logistic regression solution (thick, with its normal), the normal of the posterior "
        "mean (blue) and the direction of largest variance (pink). Utility maps: bright is high; "
        f"the star is the next pick. Test accuracy after {QUERIES} queries: "
        f"{', '.join(accuracies)}."
    )
    return finish(canvas, "cross-illustration", caption, folder)


def _pool(axis: Any, split: Split) -> None:
    for label, (colour, marker) in enumerate(_CLASSES):
        points = split.pool[split.labels == label]
        axis.scatter(*points.T, s=9, color=colour, marker=marker, linewidths=0, alpha=0.8)
    axis.scatter(
        *split.pool[split.seeds].T, s=70, facecolors="none", edgecolors=INK, linewidths=1.5
    )
    dress(axis, title="Labelled pool (seeds circled)")


def _line(axis: Any, theta: Array, **style: Any) -> None:
    along = np.array([-theta[1], theta[0]]) / np.linalg.norm(theta) * 5
    axis.plot([-along[0], along[0]], [-along[1], along[1]], **style)


def _arrow(axis: Any, direction: Array, colour: str, length: float = 1.3) -> None:
    tip = direction / np.linalg.norm(direction) * length
    axis.annotate(
        "", xy=tip, xytext=(0, 0),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "mutation_scale": 16},
    )  # fmt: skip


def _posterior(axis: Any, belief: Belief, rng: np.random.Generator) -> None:
    posterior: Any = belief.posterior
    covariance = np.asarray(posterior.covariance)
    draws = rng.multivariate_normal(posterior.mean, covariance, size=60, method="eigh")
    for theta in draws:
        _line(axis, theta, color="#767676", linewidth=0.6, alpha=0.45)
    _line(axis, posterior.map, color=INK, linewidth=1.8)
    _arrow(axis, np.asarray(posterior.map), INK, length=1.9)
    _arrow(axis, np.asarray(posterior.mean), "#56B4E9")
    _arrow(axis, np.linalg.eigh(covariance)[1][:, -1], "#CC79A7")
    dress(axis, title="Hyperplane posterior")


def _utility(axis: Any, learner: Learner, split: Split) -> None:
    reach = 1.12 * np.abs(split.pool).max()
    ticks = np.linspace(-reach, reach, _GRID)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    values = learner.selector.scores(learner.belief, grid, rng=0).reshape(_GRID, _GRID)
    drawn = axis.imshow(
        values, origin="lower", extent=(-reach, reach, -reach, reach), cmap="viridis",
        interpolation="bilinear", aspect="equal",
    )  # fmt: skip
    drawn.set_cmap(drawn.cmap.resampled(64))
    bar = axis.figure.colorbar(drawn, ax=axis, shrink=0.75, pad=0.02)
    bar.solids.set_rasterized(False)  # equal images would share one id in the page
    bar.ax.tick_params(labelsize=8)
    axis.scatter(*split.pool[learner.remaining].T, s=3, color="white", linewidths=0, alpha=0.75)
    axis.scatter(
        *split.pool[int(learner.ask())],
        marker="*",
        s=170,
        color="#D55E00",
        edgecolors="white",
        zorder=3,
    )


def _picks(axis: Any, split: Split, picks: Any, belief: Belief) -> None:
    for label, (colour, marker) in enumerate(_CLASSES):
        inside = split.labels == label
        axis.scatter(
            *split.pool[inside].T, s=5, color=colour, marker=marker, alpha=0.25, linewidths=0
        )
        chosen = picks[split.labels[picks] == label]
        axis.scatter(
            *split.pool[chosen].T, s=34, color=colour, marker=marker, edgecolors=INK, linewidths=0.8
        )
    _line(axis, np.asarray(belief.posterior.map), color=INK, linewidth=1.8)
