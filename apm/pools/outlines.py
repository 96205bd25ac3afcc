"""What a pass keeps of where rows lie: the length of each, and balls around runs of them.

A tile has sixteen cells, runs of rows, and each lies in a ball about its mean. The square of a
row's length is kept in a byte, as one of 256 steps between the least and the largest of its tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array

CELLS = 16  # of a tile
LEVELS = 256  # of a number that is kept in a byte
EXACT = 64.0  # slacks of rounding below which a radius is found by differences


class Outline(NamedTuple):
    """Of one tile: centre `(16, d)`, radius and largest length of each cell, squared lengths."""

    centre: Any
    radius: Array
    norm: Array
    squares: Any


def rounding(columns: int, dtype: Any) -> tuple[float, float]:
    """A bound on the relative error of a product, its square and a sum; what underflow can do."""
    about = np.finfo(dtype)
    floor = float(np.sqrt((8 + columns) * float(about.tiny)))  # squares below underflow
    return (8 + 2 * columns) * float(about.eps), floor


def outline(tile: Any, height: int) -> Outline:
    """The outline of a tile `(n, d)` whose cells have so many rows; empty cells are points.

    >>> outline(np.array([[0.0, 0.0], [3.0, 4.0]]), 1).norm[:3].round(6).tolist()
    [0.0, 5.0, 0.0]
    """
    count, columns = tile.shape
    unit, floor = rounding(columns, tile.dtype)
    centre = np.zeros((CELLS, columns), tile.dtype)
    radius, norm = np.zeros(CELLS), np.zeros(CELLS)
    whole = count // height
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.vecdot(tile, tile)
        for first, last, rows in ((0, whole, height), (whole, whole + 1, count - whole * height)):
            if first == last or rows == 0:
                continue
            part = slice(first * height, first * height + (last - first) * rows)
            cells = tile[part].reshape(last - first, rows, columns)
            middle = np.full((1, rows), 1.0 / rows, tile.dtype) @ cells
            centre[first:last] = middle[:, 0]
            own = squares[part].reshape(last - first, rows).astype(np.float64)
            norm[first:last] = np.sqrt(own.max(axis=1))
            to_centre = (cells @ middle.transpose(0, 2, 1))[:, :, 0].astype(np.float64)
            length = np.vecdot(middle[:, 0], middle[:, 0], dtype=np.float64)
            apart = (own - 2.0 * to_centre).max(axis=1) + length
            slack = 4.0 * unit * np.square(norm[first:last] + np.sqrt(length)) + 4.0 * floor**2
            for near in np.flatnonzero(apart < EXACT * slack):
                off = cells[near] - middle[near]
                apart[near], slack[near] = float(np.vecdot(off, off).max()), 0.0
            far = np.sqrt(apart + slack)
            radius[first:last] = far * (1.0 + unit) + floor
            norm[first:last] = norm[first:last] * (1.0 + unit) + floor
    return Outline(centre, radius, norm, squares)


def coded(values: Any) -> tuple[Any, float, float]:
    """Values `(n,)` as steps `(n,)` in a byte each, with the least value and the height of a step.

    >>> coded(np.array([0.0, 1.0, 256.0]))
    (array([  0,   1, 255], dtype=uint8), 0.0, 1.0)
    """
    low, high = float(values.min()), float(values.max())
    step = (high - low) / LEVELS
    if not (step > 0 and np.isfinite(step)):
        return np.zeros(len(values), dtype=np.uint8), low, step
    return np.minimum((values - low) / step, LEVELS - 1).astype(np.uint8), low, step


class Outlines:
    """The outlines of all tiles of a pool, in order; complete once `done` was called.

    `codes` `(n,)`, `low` and `step` `(t,)` are the squared lengths, `largest` the largest of each
    tile as it was computed; `centre`, `radius` and `norm` those of all cells.
    """

    def __init__(self, tile_rows: int) -> None:
        self.height = tile_rows // CELLS
        self._parts: list[tuple[Any, ...]] = []

    def add(self, tile: Any) -> None:
        """Take in the next tile."""
        found = outline(tile, self.height)
        codes, low, step = coded(found.squares)
        largest = float(found.squares.max())
        self._parts.append((found.centre, found.radius, found.norm, codes, low, step, largest))

    def done(self) -> Outlines:
        """These outlines, with all that was added."""
        *arrays, low, step, largest = zip(*self._parts, strict=True)
        self.centre, self.radius, self.norm, self.codes = map(np.concatenate, arrays)
        self.low, self.step, self.largest = map(np.array, (low, step, largest))
        self._parts = []
        return self
