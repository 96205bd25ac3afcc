"""Even points of a ball in R^k, ever closer towards zero, and where values peak among them."""

from __future__ import annotations

from math import gamma, pi
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array

DIMENSIONS = 4  # beyond, a lattice that fits into memory sees nothing
MOST_LAYERS = 8
FINE = 0.1  # a spacing that needs no closer layer, as on the line
INNER = 4.0  # no layer of a smaller radius is begun
TOPS = 64  # peaks of one layer


class Ball(NamedTuple):
    """Lattice points `(n, k)` in a ball around zero, and their places in a cube of `side`^k."""

    radius: float
    spacing: float
    side: int
    places: Any
    points: Array

    def peaks(self, heights: Array) -> Any:
        """Indices of points no lower than their neighbours along each axis, `TOPS` at most.

        Those that may hide the highest top come first: what the second differences leave room for
        is added to the height.
        """
        dim = self.points.shape[1]
        cube = np.full(self.side**dim, -np.inf)
        cube[self.places] = heights
        cube = cube.reshape((self.side,) * dim)
        top, room = np.isfinite(cube), cube.copy()
        for axis in range(dim):
            here, first, last = (np.moveaxis(a, axis, 0) for a in (cube, top, room))
            outside = np.full_like(here[:1], -np.inf)
            below, above = np.concatenate([outside, here[:-1]]), np.concatenate([here[1:], outside])
            first &= (here > below) & (here >= above)  # of a plateau one edge
            with np.errstate(invalid="ignore", over="ignore"):
                drop = np.where(np.isfinite(below + above), 2.0 * here - below - above, 0.0)
                last += 0.5 * np.maximum(np.nan_to_num(drop), 0.0)
        chosen = np.flatnonzero(top.ravel()[self.places])
        ranks = np.argsort(-room.ravel()[self.places[chosen]], kind="stable")[:TOPS]
        return chosen[ranks]


def balls(dim: int, radius: float, most: int) -> list[Ball]:
    """Lattices of about `most` points in balls of `radius`, half of it, ... down to a fine one."""
    found = [_ball(dim, radius, most)]
    while found[-1].spacing > FINE and found[-1].radius > INNER and len(found) < MOST_LAYERS:
        found.append(_ball(dim, 0.5 * found[-1].radius, most))
    return found


def _ball(dim: int, radius: float, most: int) -> Ball:
    share = pi ** (0.5 * dim) / gamma(0.5 * dim + 1.0) / 2.0**dim  # of the cube around it
    side = max(int((most / share) ** (1.0 / dim)), 3) | 1
    axis = np.linspace(-1.0, 1.0, side)
    points = np.stack(np.meshgrid(*(axis,) * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    places = np.flatnonzero(np.einsum("nk,nk->n", points, points) <= 1.0)
    return Ball(radius, radius * float(axis[1] - axis[0]), side, places, radius * points[places])
