"""Pictures of a learner at work. Needs matplotlib (the extra `plot`)."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.comparison import Comparison
from apm.insight import Curve
from apm.learner import Learner
from apm.posteriors.labels import as_labels
from apm.power import FixedPower
from apm.selectors import EPIG
from apm.selectors.matching.apm import Matching
from channelcode._validation import integer
from channelcode.errors import InvalidArgument
from channelcode.plot import BLUE, COLOURS, GREEN, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GRID = 120
_DIGIT, _LINE = 4.6, 7.5  # of a number in 7 point type, in points
_Z = 1.96  # two-sided 95 %
_MARGIN = 0.08  # of the pool's extent, on every side


def selection(learner: Learner, labels: ArrayLike | None = None) -> Figure:
    """A pool in the plane: the selector's score as shade, labelled rows in order, the next pick.

    The shade is the share of the picture that scores lower, from 0 to 1, for a candidate put there
    under the budget of the rows that are left. `labels`, one for each row and of any number of
    classes, colours the pool where the truth is known; else it is grey. Labelled rows are numbered
    in their order where a number finds room beside its row.
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
    # scores fall steeply far from the boundary: shade by rank, so that the top shows its shape
    rank = _shares(_scores(learner, grid.reshape(-1, 2)))
    box = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    shade = axes.imshow(
        rank.reshape(_GRID, _GRID),
        extent=box,
        origin="lower",
        aspect="auto",
        cmap=_light_greys(),
        vmin=0.0,
        vmax=1.0,
    )
    figure.colorbar(shade, ax=axes, label="share of the picture with a lower score")
    _scatter(axes, pool, labels)
    done = learner.labelled
    axes.plot(*pool[done].T, "o", markersize=9, fillstyle="none", color="black", label="labelled")
    if len(learner.remaining):
        (following,) = learner.ask()
        axes.plot(*pool[following], "*", markersize=18, color=GREEN, label="asked for next")
    axes.set_xlabel("feature 1")
    axes.set_ylabel("feature 2")
    # below the picture, so that no row of the pool is hidden
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=8, ncols=5)
    _number(figure, axes, pool[done])
    return figure


def learning_curve(source: Learner | Curve | Comparison) -> Figure:
    """Accuracy against the number of labels: of a learner, of its `curve`, or of a `compare`.

    The curve of a learner itself is what the model expects; `learner.curve(X, y)` is measured.
    A comparison is drawn with the mean of its trials and a band of two standard errors.
    """
    figure, axes = new_figure(figsize=(7.0, 4.5))
    if isinstance(source, Comparison):
        asked = np.arange(source.accuracy.shape[2])
        for place, (name, colour) in enumerate(zip(source.names, cycle(COLOURS))):
            curves = source.accuracy[place]
            mean = curves.mean(axis=0)
            axes.plot(asked, mean, color=colour, label=name)
            if len(curves) > 1:
                error = curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
                low, high = mean - 2 * error, mean + 2 * error
                axes.fill_between(asked, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xlabel("labels asked, after one of each class")
        axes.set_ylabel("accuracy on rows held back")
    else:
        curve = source.curve() if isinstance(source, Learner) else source
        kind = "measured" if curve.measured else "expected by the model"
        axes.plot(curve.labels, curve.accuracy, color=BLUE, label=kind)
        axes.set_xlabel("labels")
        axes.set_ylabel("accuracy")
    axes.legend(loc="lower right", fontsize=8)
    return figure


def efficiency(learner: Learner) -> Figure:
    """Bits of each label, and the capacity at the power spent on it; their ratio so far."""
    found = learner.efficiency
    figure, (upper, lower) = new_figure(2, 1, figsize=(7.0, 5.0), sharex=True)
    asked = np.arange(1, len(found.bits) + 1)
    upper.plot(asked, found.capacity_bits, color=GREY, label="capacity at the power spent")
    upper.plot(asked, found.bits, color=BLUE, marker=".", label="told by the label")
    upper.set_ylabel("bits")
    upper.legend(loc="upper right", fontsize=8)
    lower.plot(asked, found.per_label, ".", color=BLUE, label="each label")
    lower.plot(asked, found.running, color=GREEN, label="so far")
    lower.axhline(1.0, color=GREY, linewidth=0.8, linestyle="--")
    lower.set_ylim(0.0, 1.08)
    lower.set_ylabel("share of the capacity")
    lower.set_xlabel("labels")
    lower.legend(loc="lower right", fontsize=8)
    return figure


def calibration(learner: Learner, X: ArrayLike, y: ArrayLike, *, bins: int = 10) -> Figure:
    """How often the predicted label is right, against the probability it was given.

    Rows are grouped into `bins` of equal size by the probability of their predicted label; bars are
    Wilson's 95 % intervals. The title gives the expected calibration error over these groups.
    """
    truth = as_labels(y)
    probability = learner.predict_proba(X)
    if len(truth) != len(probability) or len(truth) == 0:
        rule = f"must have one label for each of {len(probability)} rows"
        raise InvalidArgument("y", rule, f"{len(truth)} labels")
    count = min(integer("bins", bins, least=1), len(truth))
    sure = probability.max(axis=1)
    right = (learner.predict(X) == truth).astype(np.float64)
    groups = np.array_split(np.argsort(sure, kind="stable"), count)
    given = np.array([sure[rows].mean() for rows in groups])
    share = np.array([right[rows].mean() for rows in groups])
    size = np.array([len(rows) for rows in groups])
    error = float(np.sum(size * np.abs(given - share)) / len(truth))
    middle = (share + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    width = _Z * np.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2)) / (1 + _Z**2 / size)
    figure, axes = new_figure(figsize=(5.0, 5.0))
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, label="calibrated")
    axes.vlines(given, middle - width, middle + width, color=BLUE, linewidth=1)
    axes.plot(given, share, "o", color=BLUE, label=f"{len(truth)} rows in {count} groups")
    axes.set_xlabel("probability of the predicted label")
    axes.set_ylabel("share of rows where it is right")
    axes.set_title(f"expected calibration error {error:.3f}", fontsize=10)
    axes.legend(loc="upper left", fontsize=8)
    return figure


def evaluation(curve: Curve, groups: Any = None) -> Figure:
    """A learning curve and, beside it, the calibration of `groups` (given, right, rows), if any."""
    figure, (left, right) = new_figure(1, 2, figsize=(10.0, 4.5))
    kind = "measured" if curve.measured else "expected by the model"
    left.plot(curve.labels, curve.accuracy, color=BLUE, marker=".", label=kind)
    left.set_xlabel("labels")
    left.set_ylabel("accuracy")
    left.legend(loc="lower right", fontsize=8)
    right.plot([0, 1], [0, 1], color=GREY, linewidth=1, label="calibrated")
    if groups is not None:
        name = "rows held back" if groups.held_back else "labelled rows, cross-validated"
        right.plot(groups.given, groups.right, "o", color=BLUE, label=name)
        right.set_title(f"expected calibration error {groups.error:.3f}", fontsize=10)
    else:
        right.set_title("too few labels for a calibration", fontsize=10)
    right.set_xlabel("probability of the predicted label")
    right.set_ylabel("share of rows where it is right")
    right.legend(loc="upper left", fontsize=8)
    return figure


def _number(figure: Any, axes: Any, points: np.ndarray) -> None:
    """Number points beside their marks; a number that would lie on another one is left out."""
    figure.draw_without_rendering()  # the layout, and with it the places in points, is settled
    places = axes.transData.transform(points) * 72.0 / figure.dpi if len(points) else points
    taken: list[tuple[float, float, float]] = []
    for order, (point, place) in enumerate(zip(points, places, strict=True), start=1):
        width = _DIGIT * len(str(order))
        for x, y in ((5.0, 4.0), (5.0, -9.0), (-5.0 - width, 4.0), (-5.0 - width, -9.0)):
            left, low = place[0] + x, place[1] + y
            if all(
                left >= other + size or other >= left + width or abs(low - height) >= _LINE
                for other, height, size in taken
            ):
                taken.append((left, low, width))
                axes.annotate(
                    str(order), point, xytext=(x, y), textcoords="offset points", fontsize=7
                )
                break


def _scores(learner: Learner, points: np.ndarray) -> np.ndarray:
    """The score of a candidate at each point, under the budget and targets of the learner's pool.

    A prepared selector remembers encoded examples, so it is given those, not the points.
    """
    held = learner.belief
    belief = Belief(held.posterior, channel=held.channel)
    encoded, pool = (np.asarray(held.encoder.encode(X)) for X in (points, learner.pool))
    selector, left = learner.selector, learner.remaining
    if isinstance(selector, EPIG) and selector.targets is None:
        selector = replace(selector, targets=pool)
    if isinstance(selector, Matching) and len(left):
        power = selector.match(belief, pool, left, belief.push(pool[left])).power
        if power is not None:
            selector = replace(selector, power=FixedPower(power))
    return selector.scores(belief, encoded, rng=0)


def _shares(scores: np.ndarray) -> np.ndarray:
    """The part of all scores that lies below each: equal scores have equal shares, in [0, 1]."""
    return np.searchsorted(np.sort(scores), scores, side="left") / max(len(scores) - 1, 1)


def _light_greys() -> Any:
    """White to middle grey: points stay visible on the darkest."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("light greys", ["#ffffff", "#8c8c8c"])


def _scatter(axes: Any, pool: np.ndarray, labels: ArrayLike | None) -> None:
    if labels is None:
        axes.plot(*pool.T, ".", color="#666666", markersize=4)
        return
    truth = np.asarray(labels)
    if truth.shape != (len(pool),):
        raise InvalidArgument("labels", f"must have length {len(pool)}", f"shape {truth.shape}")
    classes = np.unique(truth)
    for place, (value, marker) in enumerate(zip(classes, cycle("osD^vPX"))):
        rows, colour = pool[truth == value], _colour(place, len(classes))
        axes.plot(*rows.T, marker, color=colour, markersize=3, linestyle="", label=f"class {value}")


def _colour(place: int, count: int) -> Any:
    """A colour for one of `count` classes: distinct by name for a few, by hue for many."""
    if count <= len(COLOURS):
        return COLOURS[place]
    from matplotlib import colormaps

    return colormaps["turbo"](place / (count - 1))
