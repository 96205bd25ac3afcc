"""Large planar pools: rho interpolated in the two shape variables, with error control."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.transport.pools.gaussians import correlations
from channelcode.transport.target import Reduced

TABLE_SIZE = 10_000  # pools from this size on are interpolated
DEGREE = 9  # of the Chebyshev polynomials in each variable of a patch
TOLERANCE = 1e-7  # of rho, relative to sqrt(tr S tr Cov T), asked of every patch
FIRST_PATCHES = (4, 8)  # in the spread u and in the angle, before any is split
SAFETY = 3.0  # the error anywhere in a patch against what is seen of it: 1.2 measured
NODE_RTOL = 1e-11  # of the same scale: gaps that a node may have
PART = 0.1  # of the last coefficients: a variable with less of them is not halved
DEEPEST = 3  # halvings of a patch; what is left beyond is solved exactly
# Where a patch is checked: its corners, the middles of its sides, its middle, and off all of them.
CHECKS = (
    np.array([-1.0, -1.0, 1.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.83, -0.55, 0.31]),
    np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 0.0, 0.0, 0.0, -0.62, 0.74, 0.29]),
)
REPAYS = 1.0  # a patch is built if it serves this many times the solves that it costs


class Shapes(NamedTuple):
    """Covariances in the plane up to scale: `u = sqrt(least eigenvalue / trace)` and an angle."""

    size: Array  # sqrt(trace)
    spread: Array  # u, from 0 (rank one) to sqrt(1/2) (isotropic)
    angle: Array  # of (S_11 - S_22, 2 S_12), from -pi to pi


def shapes_of(covariance: Array) -> Shapes:
    """The scale and the two shape variables of `(n, 2, 2)` covariances."""
    first, second, mixed = covariance[:, 0, 0], covariance[:, 1, 1], covariance[:, 0, 1]
    trace = first + second
    safe = np.where(trace > 0, trace, 1.0)
    x, y = (first - second) / safe, 2 * mixed / safe
    radius = np.minimum(np.hypot(x, y), 1.0)
    return Shapes(np.sqrt(np.maximum(trace, 0.0)), np.sqrt(0.5 * (1 - radius)), np.arctan2(y, x))


def covariances_of(spread: Array, angle: Array) -> Array:
    """Covariances of trace one with the given shape variables, `(n, 2, 2)`."""
    radius = 1 - 2 * spread**2
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return 0.5 * np.stack((1 + x, y, y, 1 - x), axis=-1).reshape(-1, 2, 2)


@cache
def chebyshev_rule(degree: int) -> tuple[Array, Array]:
    """The Chebyshev points on [-1, 1] and the matrix from values there to coefficients."""
    count = degree + 1
    k = np.arange(count)
    points = np.cos(np.pi * (k + 0.5) / count)
    to_coefficients = 2 / count * np.cos(np.pi * np.outer(k, k + 0.5) / count)
    to_coefficients[0] *= 0.5
    return points, to_coefficients


def table_correlations(covariance: Array, target: Reduced) -> tuple[Array, Array, np.ndarray]:
    """rho(S) by interpolation for covariances `(n, 2, 2)` on the span of a planar target.

    Returns rho and its error, in units of the target, and the candidates left to an exact solve.

    `rho` is sqrt(tr S) times an analytic function of (u, angle) away from the rank-one shapes (u =
    0) that tie two atoms. Patches in these variables hold a Chebyshev interpolant; a patch whose
    last coefficients exceed `TOLERANCE` is halved across the variable that needs it (or both), and
    candidates in patches that serve too few, or whose nodes could not all be solved, are left out.
    """
    from channelcode._kernels.transport.table import chebyshev_values

    shapes = shapes_of(covariance)
    rho = np.zeros(len(covariance))
    error = np.zeros(len(covariance))
    alone: list[np.ndarray] = []
    scale = np.sqrt(target.variance)
    points, to_coefficients = chebyshev_rule(DEGREE)
    fewest = REPAYS * len(points) ** 2
    pending = _first_patches(shapes)
    while pending:
        keep = [patch for patch in pending if len(patch[2]) >= fewest and patch[3] <= DEEPEST]
        alone += [patch[2] for patch in pending if len(patch[2]) < fewest or patch[3] > DEEPEST]
        pending = []
        if not keep:
            break
        values = _solve_patches(keep, points, target)
        checks = _solve_at(keep, *CHECKS, target)
        for (low, high, index, depth), at_points, at_checks in zip(keep, values, checks):
            if not np.isfinite(at_points).all() or not np.isfinite(at_checks).all():
                alone.append(index)
                continue
            coefficients = np.ascontiguousarray(to_coefficients @ at_points @ to_coefficients.T)
            tails = np.array([np.abs(coefficients[-2:]).sum(), np.abs(coefficients[:, -2:]).sum()])
            # The last coefficients estimate the error, and points between the nodes measure it.
            missed = np.abs(chebyshev_values(coefficients, *CHECKS) - at_checks).max()
            worst = SAFETY * max(float(tails.sum()), float(missed))
            if worst > TOLERANCE * scale:
                across = tails > PART * tails.sum()
                pending += _split(low, high, index, depth, shapes, across)
                continue
            value = _evaluate(coefficients, low, high, shapes, index)
            rho[index] = shapes.size[index] * value
            error[index] = shapes.size[index] * worst
    return rho, error, np.concatenate(alone) if alone else np.zeros(0, dtype=np.int64)


Patch = tuple[Array, Array, np.ndarray, int]  # lower corner, upper corner, candidates, depth


def _first_patches(shapes: Shapes) -> list[Patch]:
    rows, columns = FIRST_PATCHES
    heights, widths = np.sqrt(0.5) / rows, 2 * np.pi / columns
    row = np.minimum((shapes.spread / heights).astype(int), rows - 1)
    column = np.clip(((shapes.angle + np.pi) / widths).astype(int), 0, columns - 1)
    cell = row * columns + column
    order = np.argsort(cell.astype(np.int16), kind="stable")  # short integers sort fastest
    groups = np.split(order, np.searchsorted(cell[order], np.arange(1, rows * columns)))
    patches = []
    for number, index in enumerate(groups):
        i, j = divmod(number, columns)
        low = np.array([i * heights, -np.pi + j * widths])
        patches.append((low, low + [heights, widths], index, 0))
    return [patch for patch in patches if len(patch[2])]


def _split(
    low: Array, high: Array, index: np.ndarray, depth: int, shapes: Shapes, across: np.ndarray
) -> list[Patch]:
    """The halves of a patch, or its quarters, across the variables that need it."""
    middle = 0.5 * (low + high)
    upper_row = shapes.spread[index] >= middle[0]
    upper_column = shapes.angle[index] >= middle[1]
    patches = []
    for row in (False, True) if across[0] else (None,):
        for column in (False, True) if across[1] else (None,):
            inside = np.ones(len(index), dtype=bool)
            corner, opposite = low.copy(), high.copy()
            for axis, side, upper in ((0, row, upper_row), (1, column, upper_column)):
                if side is not None:
                    inside &= upper == side
                    (corner if side else opposite)[axis] = middle[axis]
            if inside.any():
                patches.append((corner, opposite, index[inside], depth + 1))
    return patches


def _solve_at(patches: list[Patch], x: Array, y: Array, target: Reduced) -> Array:
    """rho at points `x, y (c,)` of [-1, 1]^2 in every patch, `(patches, c)`; NaN if not known."""
    low = np.array([patch[0] for patch in patches])[:, None, :]
    high = np.array([patch[1] for patch in patches])[:, None, :]
    places = 0.5 * (low + high) + 0.5 * (high - low) * np.column_stack((x, y))
    covariance = covariances_of(places[..., 0].ravel(), places[..., 1].ravel())
    return _node_values(covariance, target, ordered=False).reshape(len(patches), -1)


def _node_values(covariance: Array, target: Reduced, *, ordered: bool) -> Array:
    flat = replace(target, basis=np.eye(2), unit=1.0)
    found = correlations(covariance, flat, ordered=ordered)
    good = found.below + found.above <= NODE_RTOL * target.deviation
    return np.where(good, found.value, np.nan)


def _solve_patches(patches: list[Patch], points: Array, target: Reduced) -> Array:
    """rho at the Chebyshev points of every patch, `(patches, p, p)`; NaN where it is not known."""
    low = np.array([patch[0] for patch in patches])
    high = np.array([patch[1] for patch in patches])
    nodes = 0.5 * (low + high)[:, None, :] + 0.5 * (high - low)[:, None, :] * points[:, None]
    spread = np.repeat(nodes[:, :, None, 0], len(points), axis=2)
    angle = np.repeat(nodes[:, None, :, 1], len(points), axis=1)
    # Back and forth through each patch, so that every node is next to the one before.
    angle[:, 1::2] = angle[:, 1::2, ::-1]
    nodes_in_order = covariances_of(spread.ravel(), angle.ravel())
    solved = _node_values(nodes_in_order, target, ordered=True).reshape(spread.shape)
    solved[:, 1::2] = solved[:, 1::2, ::-1].copy()
    return solved


def _evaluate(
    coefficients: Array, low: Array, high: Array, shapes: Shapes, index: np.ndarray
) -> Array:
    from channelcode._kernels.transport.table import chebyshev_values

    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    first = (shapes.spread[index] - centre[0]) / half[0]
    second = (shapes.angle[index] - centre[1]) / half[1]
    return chebyshev_values(np.ascontiguousarray(coefficients), first, second)
