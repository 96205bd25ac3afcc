"""Pictures of a learner at work. Needs matplotlib (the extra `plot`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from apm.learner import Learner
from channelcode.errors import InvalidArgument
from channelcode.plot import BLUE, GREEN, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GRID = 120
_MARGIN = 0.08  # of the pool's extent, on every side


def selection(learner: Learner, labels: ArrayLike | None = None) -> Figure:
    """A pool in the plane: the selector's score as shade, labelled rows in order, the next pick.

    `labels`, one for each row, colours the pool where the truth is known; else it is grey.
    """
    pool = np.asarray(learner.pool, dtype=np.float64)
    if pool.shape[1] != 2:
        raise InvalidArgument("learner", "must have a pool in the plane, (n, 2)", pool.shape)
    figure, axes = new_figure(figsize=(7.0, 5.5))
    low, high = pool.min(axis=0), pool.max(axis=0)
    extent = np.maximum(high - low, 1e-9)
    sides = [
        np.linspace(low[i] - _MARGIN * extent[i], high[i] + _MARGIN * extent[i], _GRID)
        for i in range(2)
    ]
    grid = np.stack(np.meshgrid(*sides, indexing="xy"), axis=-1)
    scores = learner.selector.scores(learner.belief, grid.reshape(-1, 2), rng=0)
    # scores fall steeply far from the boundary: shade by rank, so that the top shows its shape
    rank = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / (scores.size - 1)
    box = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    shade = axes.imshow(
        rank.reshape(_GRID, _GRID),
        extent=box,
        origin="lower",
        aspect="auto",
        cmap="Greys",
        vmax=1.6,
    )
    figure.colorbar(shade, ax=axes, label="share of the picture with a lower score")
    _scatter(axes, pool, labels)
    done = learner.labelled
    axes.plot(*pool[done].T, "o", markersize=9, fillstyle="none", color="black", label="labelled")
    for order, row in enumerate(done, start=1):
        axes.annotate(str(order), pool[row], xytext=(5, 4), textcoords="offset points", fontsize=7)
    if len(learner.remaining):
        (following,) = learner.ask()
        axes.plot(*pool[following], "*", markersize=18, color=GREEN, label="asked for next")
    axes.set_xlabel("feature 1")
    axes.set_ylabel("feature 2")
    axes.legend(loc="upper left", fontsize=8)
    return figure


def _scatter(axes: Any, pool: np.ndarray, labels: ArrayLike | None) -> None:
    if labels is None:
        axes.plot(*pool.T, ".", color="#666666", markersize=4)
        return
    truth = np.asarray(labels)
    if truth.shape != (len(pool),):
        raise InvalidArgument("labels", f"must have length {len(pool)}", f"shape {truth.shape}")
    for value, colour, marker in zip(np.unique(truth), (BLUE, ORANGE), "os", strict=False):
        rows = pool[truth == value]
        axes.plot(*rows.T, marker, color=colour, markersize=3, linestyle="", label=f"class {value}")
