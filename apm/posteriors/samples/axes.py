"""Product grids: their points, the cells of a trapezoid rule, their spacing and their edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from apm.encoders import Encoder
from channelcode._validation import Array, finite_array, read_only
from channelcode.errors import InvalidArgument

MOST_POINTS = 1 << 25  # a quarter of a gibibyte for one number at each of them


def as_axes(axes: Any, encoder: Encoder | None) -> tuple[Array, ...]:
    """The values of each parameter, one array of distinct numbers for each."""
    listed = list(axes) if hasattr(axes, "__iter__") and not isinstance(axes, str) else []
    if not listed or any(np.ndim(axis) != 1 for axis in listed):
        rule = "must be a list of arrays, one for each parameter (for one: [values])"
        raise InvalidArgument("axes", rule, axes)
    values = tuple(
        read_only(finite_array(f"axes[{place}]", axis, ndim=1)) for place, axis in enumerate(listed)
    )
    for place, axis in enumerate(values):
        if len(np.unique(axis)) != len(axis):
            raise InvalidArgument(f"axes[{place}]", "must hold distinct values", axis.tolist())
    count = encoder.num_parameters if isinstance(encoder, Encoder) else None
    if count is not None and count != len(values):
        rule = f"must have one array for each of the encoder's {count} parameters"
        raise InvalidArgument("axes", rule, f"{len(values)} arrays")
    total = float(np.prod([float(len(axis)) for axis in values]))
    if total > MOST_POINTS:
        rule = f"must make at most {MOST_POINTS} points: Particles take more parameters"
        raise InvalidArgument("axes", rule, f"{total:.3g} points")
    return values


def grid_points(axes: tuple[Array, ...]) -> Array:
    """All points `(s, q)`, the last axis running fastest.

    >>> grid_points((np.array([0.0, 1.0]), np.array([5.0, 6.0])))
    array([[0., 5.],
           [0., 6.],
           [1., 5.],
           [1., 6.]])
    """
    mesh = np.meshgrid(*axes, indexing="ij")
    return read_only(np.stack([part.ravel() for part in mesh], axis=1))


def widths(axis: Array) -> Array:
    """The cells of the trapezoid rule, whatever the order of the values; one value has width 1."""
    if len(axis) == 1:
        return np.ones(1)
    order = np.argsort(axis)
    gaps = np.diff(axis[order])
    cells = np.empty(len(axis))
    cells[order] = 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
    return cells


def log_cells(axes: tuple[Array, ...]) -> Array:
    """ln of every point's cell, `(s,)`."""
    logs = np.zeros(())
    for axis in axes:
        logs = logs[..., None] + np.log(widths(axis))
    return logs.ravel()


def spacing(axis: Array) -> Array:
    """The mean distance of each value to its neighbours: to the one neighbour, at the ends."""
    order = np.argsort(axis)
    gaps = np.diff(axis[order])
    near = np.empty(len(axis))
    near[order] = 0.5 * (np.append(gaps, gaps[-1]) + np.append(gaps[0], gaps))
    return near


def edge(axes: tuple[Array, ...]) -> NDArray[np.bool_]:
    """Which points lie at an end of some axis of more than one value; shaped as the grid."""
    shape = tuple(len(axis) for axis in axes)
    outer = np.zeros(shape, dtype=bool)
    for place, axis in enumerate(axes):
        if len(axis) > 1:
            for end in (int(np.argmin(axis)), int(np.argmax(axis))):
                outer[(slice(None),) * place + (end,)] = True
    return outer
