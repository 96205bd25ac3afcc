"""Lipschitz constants found by search, from values or gradients of a function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array

LINE_MARGIN = 1.0 + 1e-6  # secants approach the steepest slope from below
SPACE_MARGIN = 1.02  # a search in R^k may stop short of the top
JUMP = 1e9  # steeper than this at the finest zoom is a jump: no constant exists
NARROWEST = 1e-6  # secants of a function known to rounding are good to 1e-9 here
_BEST = 24
_SPLIT = 16


def steepest_on_line(function: Callable[[Array], Array], grid: Array) -> float:
    """The Lipschitz constant of a function on the line, from its secants on `grid`.

    The steepest intervals are split in sixteen, again and again, until the slope settles; the
    secant of an interval is never above the constant, so a small margin is added. Infinite for a
    function that jumps.
    """
    points = np.unique(grid)
    wide = np.diff(points) > NARROWEST * np.maximum(1.0, np.abs(points[1:]))
    points = points[np.concatenate([[True], wide])]
    left, right = points[:-1], points[1:]
    best, settled = 0.0, 0
    while settled < 2:
        values = function(np.stack([left, right], axis=-1))
        with np.errstate(invalid="ignore"):
            slopes = np.abs(values[..., 1] - values[..., 0]) / (right - left)
        if not np.isfinite(slopes).all():
            return np.inf
        top = float(slopes.max())
        settled = settled + 1 if top <= best * (1.0 + 1e-8) else 0
        best = max(best, top)
        chosen = np.argsort(slopes)[-_BEST:]
        a, b = left[chosen], right[chosen]
        finest = float(((b - a) / np.maximum(1.0, np.abs(b))).min())
        # finer secants would be rounding, unless the function is so steep that it may be a jump
        if best == 0 or finest < 1e-13 or (finest < NARROWEST and best * finest < 1e-7):
            break
        # neighbours too: the steepest point may sit at the shared end of two intervals
        a, b = a - 0.5 * (b - a), b + 0.5 * (b - a)
        cuts = a[:, None] + (b - a)[:, None] * np.linspace(0.0, 1.0, _SPLIT + 1)
        left, right = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    return np.inf if best > JUMP else best * LINE_MARGIN


def steepest_in_space(
    size: Callable[[Array], Array], dim: int, centres: Array, *, rounds: int = 60
) -> float:
    """The largest gradient norm `size(points (m, dim)) -> (m,)`, by search from many starts."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((4000, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.geomspace(1e-2, 1e2, len(directions))
    starts = np.concatenate([centres, directions * rng.permutation(radii)[:, None]])
    values = size(starts)
    if not np.isfinite(values).all():
        return np.inf
    order = np.argsort(values)[-_BEST:]
    points, heights = starts[order], values[order]
    scale = 1.0 + np.linalg.norm(points, axis=1)
    for _ in range(rounds):
        steps = rng.standard_normal((len(points), 32, dim)) * scale[:, None, None]
        trial = points[:, None, :] + 0.5 * steps
        found = size(trial.reshape(-1, dim)).reshape(len(points), -1)
        winner = found.argmax(axis=1)
        rows = np.arange(len(points))
        better = found[rows, winner] > heights
        points = np.where(better[:, None], trial[rows, winner], points)
        heights = np.where(better, found[rows, winner], heights)
        scale = np.where(better, scale, 0.7 * scale)
    return float(heights.max()) * SPACE_MARGIN
