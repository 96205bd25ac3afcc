"""Where a function known by values alone changes faster than a quadrature rule can see."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

_MOST_PLACES = 48
_NOISE = 1e-12  # second differences of probabilities below this are rounding
_STEPS = np.array([1.0, 4.0, 16.0, 64.0])  # edges about a place, in spacings
_CHUNK = 2**18  # values held at a time


class Scan(NamedTuple):
    """Edges about what was found, and the spacing of the scan: anything narrower may be missed."""

    edges: Array
    spacing: float


def scan_points(columns: int, most: int = 2**15) -> int:
    """How many inputs a scan takes when the function has so many columns: 2^18 values in all."""
    return int(min(most, max(2**10, 2**18 // columns)))


def sharp_edges(
    function: Callable[[Array], Array], low: float, high: float, *, seen: float, count: int
) -> Scan:
    """Look at `function` on `count` even points in [low, high] for features narrower than `seen`.

    `function` maps `(m,)` to `(m, F)`. A feature of scale s has second differences that grow with
    the square of the stride up to s and no further; where those at stride `seen` are less than half
    of what those of neighbours promise, the feature is too sharp for a rule that sees scale `seen`,
    and edges at a few spacings from it are returned.
    """
    spacing = (high - low) / (count - 1)
    stride = int(seen / spacing) if spacing > 0 else 0
    if stride < 2 or 4 * stride >= count:
        return Scan(np.empty(0), max(seen, spacing))
    grid = np.asarray(low + spacing * np.arange(count), dtype=np.float64)
    narrow, wide = np.zeros(count), np.zeros(count)
    rows = max(4 * stride, _CHUNK // max(1, function(grid[:1]).shape[-1]))
    for start in range(0, count, rows):
        first, last = max(0, start - stride), min(count, start + rows + stride)
        values = function(grid[first:last])
        for step, found in ((1, narrow), (stride, wide)):
            bend = np.abs(values[2 * step :] - 2.0 * values[step:-step] + values[: -2 * step])
            inside = slice(first + step, last - step)
            found[inside] = np.maximum(found[inside], bend.max(axis=-1, initial=0.0))
    sharp = (narrow > _NOISE) & (wide < 0.5 * stride**2 * narrow)
    sharp[:stride] = sharp[count - stride :] = False  # nothing to compare with at the ends
    top = narrow.copy()
    top[1:] = np.maximum(top[1:], narrow[:-1])
    top[:-1] = np.maximum(top[:-1], narrow[1:])
    places = np.flatnonzero(sharp & (narrow >= top))
    places = places[np.argsort(narrow[places])[-_MOST_PLACES:]]
    offsets = spacing * np.concatenate([-_STEPS[::-1], _STEPS])
    edges = np.unique((grid[places][:, None] + offsets).ravel())
    return Scan(edges[(edges > low) & (edges < high)], spacing)
