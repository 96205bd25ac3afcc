"""From scores to rows: best first, ties to the lowest row, labelled rows left out."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from channelcode._validation import Array
from channelcode.errors import InvalidArgument

Indices = NDArray[np.intp]

# Two equal rows may differ in the last digits, as a matrix product rounds by position. Scores this
# close are one score: part of the best score, and part of the largest (what rounding can do).
TIE_RTOL = 1e-12
TIE_SPREAD = 4 * float(np.finfo(np.float64).eps)


def best(scores: Array, count: int = 1, *, resolution: float = 0.0) -> Indices:
    """The places of the `count` best scores, best first; ties go to the lowest place.

    >>> best(np.array([1.0, 3.0, 3.0]), 2)
    array([1, 2])
    """
    if count > 1:
        return ranking(scores, resolution=resolution)[:count]
    top = float(np.maximum.reduce(scores))
    if not isfinite(top):
        return np.array([int(scores.argmax())])
    return np.array([int((scores >= top - _tie(scores, top, resolution)).argmax())])


def ranking(scores: Array, *, resolution: float = 0.0) -> Indices:
    """All places from the best score to the worst; within a tie from the lowest place up."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    finite = np.isfinite(ordered)
    if not finite.any():
        return order
    tolerance = _tie(scores, float(ordered[finite][0]), resolution)
    with np.errstate(invalid="ignore"):
        steps = np.diff(ordered) < -tolerance
    group = np.concatenate(([0], np.cumsum(steps)))
    return order[np.lexsort((order, group))]


def remaining(rows: int, exclude: ArrayLike) -> Indices:
    """The rows that may be asked: all but the excluded ones (indices, or a mask over the rows)."""
    out = np.asarray(exclude)
    if out.size == 0:
        return np.arange(rows)
    if out.dtype == bool:
        if out.shape != (rows,):
            raise InvalidArgument("exclude", f"must have shape ({rows},)", f"shape {out.shape}")
        return np.flatnonzero(~out)
    if out.dtype.kind not in "iu":
        raise InvalidArgument("exclude", "must hold row indices", f"dtype {out.dtype}")
    if out.min() < 0 or out.max() >= rows:
        raise InvalidArgument("exclude", f"must lie in 0..{rows - 1}", out.tolist())
    keep = np.ones(rows, dtype=bool)
    keep[out] = False
    return np.flatnonzero(keep)


def _tie(scores: Array, top: float, resolution: float) -> float:
    return tie(top, float(np.minimum.reduce(scores)), resolution)


def tie(top: float, lowest: float, resolution: float) -> float:
    """How near two scores are to be called equal, where these are the best and the worst."""
    spread = max(abs(lowest), abs(top)) if isfinite(lowest) else abs(top)
    return resolution + TIE_RTOL * abs(top) + TIE_SPREAD * spread
