"""Where Newton's method begins: potentials from one or two moments of the points."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing, kernel
from channelcode._kernels.transport.samples.judge import folded_sum

FARTHEST = 3.0  # deviations of an atom's score: a higher start only costs digits
MOST_AXES = 8  # dimensions in which covariances are worth their cube
FEWEST_ATOMS = 12  # for which they are
MOMENT_POINTS = 160  # about so many points give the moments,
SCORE_POINTS = 96  # and so many those of single scores
ROOT_STEPS = 12  # of the square root: eigenvalues beyond 1e-4 of the trace are found


@borrowing
def first_potential(
    scores: np.ndarray, weights: np.ndarray, v: np.ndarray, room: np.ndarray
) -> float:
    """Start in any dimension: Voronoi cells, scaled into the bulk; returns the scores' scale.

    Half the variance of the scores `(m, n)` over their scale, beside their mean. `room (2, l)`: l
    is at least m and n.
    """
    m, n = scores.shape
    stride = max(1, n // SCORE_POINTS)
    count = (n - 1) // stride + 1
    row = room[0, :count]
    means = room[1]
    power = 0.0
    for j in range(m):
        for i in range(count):
            row[i] = scores[j, i * stride]
        means[j] = folded_sum(row) / count
        for i in range(count):
            away = scores[j, i * stride] - means[j]
            row[i] = away * away
        square = folded_sum(row) / count
        v[j] = 0.5 * square
        power += weights[j] * square
    scale = math.sqrt(power) if power > 0.0 else 1.0
    for j in range(m):
        v[j] = min(v[j] / scale, FARTHEST * math.sqrt(2.0 * v[j])) + means[j]
    return scale


@kernel
def multiply(left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """The product of two small square matrices."""
    dim = out.shape[0]
    for d in range(dim):
        for e in range(dim):
            total = 0.0
            for f in range(dim):
                total += left[d, f] * right[f, e]
            out[d, e] = total


@kernel
def sample_moments(points: np.ndarray, centre: np.ndarray, source: np.ndarray) -> None:
    """Mean `(k,)` and covariance `(k, k)` of some of the points `(n, k)`."""
    n, dim = points.shape
    stride = max(1, n // MOMENT_POINTS)
    count = (n - 1) // stride + 1
    for d in range(dim):
        centre[d] = 0.0
        for e in range(dim):
            source[d, e] = 0.0
    for i in range(0, n, stride):
        for d in range(dim):
            centre[d] += points[i, d] / count
    for i in range(0, n, stride):
        for d in range(dim):
            away = (points[i, d] - centre[d]) / count
            for e in range(d + 1):
                source[d, e] += away * (points[i, e] - centre[e])
    for d in range(dim):
        for e in range(d):
            source[e, d] = source[d, e]


@kernel
def moment_potential(
    source: np.ndarray,
    centre: np.ndarray,
    atoms: np.ndarray,
    spread: np.ndarray,
    squares: np.ndarray,
    v: np.ndarray,
) -> float:
    """Start in few dimensions: exact for two normal laws; returns the scores' scale.

    The best map between laws with covariances S and C has the potential `u(x) = x'Ax / 2` with
    ASA = C, and v is its conjugate, `y'My / 2` with `M = S (CS)^{-1/2}`; the inverse root comes
    from the iteration of Newton and Schulz. `source (k, k)` is S, `centre (k,)` the mean, `spread
    (k, k)` is C, that of the atoms `(m, k)`; `squares (4, k, k)` is room.
    """
    m, dim = atoms.shape
    product, root, inverse, step = squares[0], squares[1], squares[2], squares[3]
    trace = 0.0
    for d in range(dim):
        for e in range(dim):
            trace += spread[d, e] * source[e, d]
    scale = math.sqrt(trace) if trace > 0.0 else 1.0
    multiply(spread, source, root)
    for d in range(dim):
        for e in range(dim):
            root[d, e] /= scale * scale
            inverse[d, e] = 1.0 if d == e else 0.0
    for _ in range(ROOT_STEPS):
        multiply(inverse, root, step)
        for d in range(dim):
            for e in range(dim):
                step[d, e] = (1.5 if d == e else 0.0) - 0.5 * step[d, e]
        multiply(root, step, product)
        root, product = product, root
        multiply(step, inverse, product)
        inverse, product = product, inverse
    multiply(source, inverse, product)
    for j in range(m):
        level = 0.0
        along = 0.0
        square = 0.0
        for d in range(dim):
            along += centre[d] * atoms[j, d]
            for e in range(dim):
                square += atoms[j, d] * source[d, e] * atoms[j, e]
                level += atoms[j, d] * product[d, e] * atoms[j, e]
        level = min(0.5 * level / scale, FARTHEST * math.sqrt(max(square, 0.0)))
        v[j] = along + (level if 0.0 < level < math.inf else 0.0)
    return scale


@borrowing
def start_pool(
    scores: np.ndarray, weights: np.ndarray, v: np.ndarray, scale: np.ndarray, room: np.ndarray
) -> None:
    """Potentials `v (n, m)` from the variances of `scores (n, m, s)`, and their `scale (n,)`."""
    for c in range(scores.shape[0]):
        scale[c] = first_potential(scores[c], weights, v[c], room)


@kernel
def start_by_moments(
    points: np.ndarray, atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, scale: np.ndarray
) -> None:
    """The same from the covariances of `points (n, s, k)`, for many atoms in few dimensions."""
    m, dim = atoms.shape
    spread, source, centre = np.zeros((dim, dim)), np.empty((dim, dim)), np.empty(dim)
    squares = np.empty((4, dim, dim))
    for j in range(m):
        for d in range(dim):
            for e in range(dim):
                spread[d, e] += weights[j] * atoms[j, d] * atoms[j, e]
    for c in range(points.shape[0]):
        sample_moments(points[c], centre, source)
        scale[c] = moment_potential(source, centre, atoms, spread, squares, v[c])
