"""How high a function can rise between the points where it is known."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from channelcode._validation import Array

QUARTERS = np.array([0.25, 0.5, 0.75])
_UNLIKE = 1.0 / 64.0


def bend_bound(grid: Array, height: Array) -> Array:
    """The bound from divided differences, along the last axis; infinite where F is.

    Two points alone bound nothing in between.
    """
    if height.shape[-1] < 3:
        return np.full((*height.shape[:-1], height.shape[-1] - 1), np.inf)
    with np.errstate(all="ignore"):
        width = grid[..., 1:] - grid[..., :-1]
        slope = (height[..., 1:] - height[..., :-1]) / width
        padded = np.empty((*height.shape[:-1], height.shape[-1] + 4))
        second = padded[..., 3:-3]
        np.subtract(slope[..., 1:], slope[..., :-1], out=second)
        second /= 0.5 * (width[..., 1:] + width[..., :-1])
        padded[..., :3], padded[..., -3:] = second[..., :1], second[..., -1:]
        least, most = _of_six(np.minimum, padded), _of_six(np.maximum, padded)
        bend = np.maximum(-least, 0.0) + (most - least)
        ends = np.maximum(height[..., :-1], height[..., 1:])
        bound = ends + 0.125 * width**2 * bend
    bound[np.isnan(bound)] = np.inf
    return bound


def graded(grid: Array) -> Array:
    """Sorted points without those that stand far closer to one neighbour than to the other.

    Across such a pair a divided difference is rounding, and the wide interval beside it is bounded
    by that: an atom 1e-14 from a probe made a bound worse by 1e-9, however many probes followed.

    >>> graded(np.array([0.0, 1e-13, 0.5, 1.0 - 1e-13, 1.0]))
    array([0. , 0.5, 1. ])
    """
    places, kept = grid.tolist(), []
    while len(kept) < len(places):  # a point that goes may make its neighbours unlike
        places, kept = kept or places, []
        for place, following in pairwise(places):
            before = place - kept[-1] if kept else np.inf
            after = following - place
            if not kept or (before > _UNLIKE * after and after > _UNLIKE * before):
                kept.append(place)
        kept.append(places[-1])
    return np.array(kept)


def _of_six(extreme: np.ufunc, values: Array) -> Array:
    """The least, or the greatest, of every six neighbours along the last axis."""
    pairs = extreme(values[..., :-1], values[..., 1:])
    fours = extreme(pairs[..., :-2], pairs[..., 2:])
    return extreme(fours[..., :-2], pairs[..., 4:])


def quartered(points: Array, open_: Any) -> tuple[Any, Array]:
    """Which points to keep, and new ones that quarter the open intervals.

    Of the others those stay that the differences around an open interval need.
    """
    near = open_.copy()
    for shift in (1, 2, 3):
        near[shift:] |= open_[:-shift]
        near[:-shift] |= open_[shift:]
    keep = np.zeros(len(points), dtype=bool)
    keep[:-1] |= near
    keep[1:] |= near
    left = points[:-1][open_]
    width = points[1:][open_] - left
    fresh = (left[:, None] + width[:, None] * QUARTERS).ravel()
    return keep, np.setdiff1d(fresh, points)  # in the last doubles a quarter may be an end


def inside(points: Array, old: Array, open_: Any) -> Any:
    """Which intervals between `points` lie in an open interval between the `old` points."""
    middle = points[:-1] + 0.5 * np.diff(points)
    place = np.searchsorted(old, middle, side="right") - 1
    return open_[np.clip(place, 0, len(open_) - 1)]
