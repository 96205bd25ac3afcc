"""The line: closed forms for many Gaussians, and many sorted samples that share one plan."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing, kernel
from channelcode._kernels.transport.samples.judge import folded_sum


@kernel
def gaussian_line(
    mean: np.ndarray,
    variance: np.ndarray,
    centre: float,
    offset: float,
    constant: float,
    rest: float,
) -> np.ndarray:
    """(mean - centre - offset)^2 + (sqrt(variance) - constant)^2 + rest, `(n,)`."""
    out = np.empty(mean.shape[0])
    for c in range(mean.shape[0]):
        shift = (mean[c] - centre) - offset
        spread = math.sqrt(variance[c]) - constant
        out[c] = shift * shift + spread * spread + rest
    return out


@borrowing
def shared_plan_cost(
    ordered: np.ndarray,
    place: np.ndarray,
    first: np.ndarray,
    atom: np.ndarray,
    mass: np.ndarray,
    room: np.ndarray,
    out: np.ndarray,
) -> None:
    """sum_e mass_e (x_e - atom)^2 for each row c of `ordered (n, s)`: `out (n,)`.

    The entries `place[j]` to `place[j + 1]` take to `atom[j]` the points from `first[j]` on, one
    after the other: rows side by side, in loops that the compiler makes wide. `room` is as long as
    `mass (e,)`.
    """
    for c in range(ordered.shape[0]):
        for j in range(atom.shape[0]):
            size = place[j + 1] - place[j]
            given = ordered[c, first[j] : first[j] + size]
            share, put = mass[place[j] : place[j + 1]], room[place[j] : place[j + 1]]
            y = atom[j]
            for e in range(size):
                put[e] = share[e] * (given[e] - y) * (given[e] - y)
        out[c] = folded_sum(room)
