"""How high a function can rise between the points where it is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array

QUARTERS = np.array([0.25, 0.5, 0.75])


def bend_bound(grid: Array, height: Array) -> Array:
    """The bound from divided differences, along the last axis; infinite where F is."""
    with np.errstate(all="ignore"):
        width = np.diff(grid, axis=-1)
        slope = np.diff(height, axis=-1) / width
        second = 2.0 * np.diff(slope, axis=-1) / (width[..., 1:] + width[..., :-1])
        first, last = second[..., :1], second[..., -1:]
        padded = np.concatenate([first, first, first, second, last, last, last], axis=-1)
        count = width.shape[-1]
        least = padded[..., :count]
        most = least
        for k in range(1, 6):
            least = np.minimum(least, padded[..., k : k + count])
            most = np.maximum(most, padded[..., k : k + count])
        bend = np.maximum(-least, 0.0) + (most - least)
        ends = np.maximum(height[..., :-1], height[..., 1:])
        bound = ends + 0.125 * width**2 * bend
    return np.where(np.isnan(bound), np.inf, bound)


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
