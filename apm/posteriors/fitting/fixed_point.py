"""The variational fixed point: compiled steps, and NumPy for the Newton systems they leave.

`apm._kernels.variational` solves small positive definite systems itself and asks for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apm.posteriors.labels import Codes
from channelcode._validation import Array

LARGEST = 1 << 18  # multiplications of a matrix product above which BLAS wins
FLATTEST = 1e-3  # least curvature that an indefinite step divides by
DIRECT_ROWS = 256  # above this the Newton system is solved by conjugate gradients,
DIRECT_RATIO = 6  # and above so many rows per column: n^3 / 3 against 20 steps of n r^2


class FixedPoint(NamedTuple):
    """The mean `(q,)`, the factor `(q, q)`, the evidence bound, steps, and the last change."""

    mean: Array
    factor: Array
    bound: float
    steps: int
    change: float


def solve(
    design: Array,
    precision: Array,
    *,
    codes: Codes,
    weights: Array,
    squares: Array,
    known: int,
    mean: Array,
    factor: Array,
    share: float,
    tol: float,
    max_steps: int,
) -> FixedPoint:
    """The posterior of the rows of `design (n, q)` from an earlier one with `mean` and `factor`.

    `squares[:known]` holds the earlier xi^2 and becomes the new one, in place. The other rows start
    from `share` x'Sigma x + <x, mean>^2.
    """
    from apm._kernels import variational as kernels

    n, q = design.shape
    reduced = n < q
    r = n if reduced else q
    half, Z, basis = np.empty(n), np.empty((n, r)), np.empty((n if reduced else 0, q))
    kernels.begin(
        design, precision, codes, weights, squares, known, mean, factor, share, half, Z, basis
    )
    U, shift, bound, steps, change = climb_from(Z, half, weights, squares, tol, max_steps)
    if reduced and r * q * q > LARGEST:
        mean, factor = _lift(U, shift, basis, precision)
    else:
        mean, factor = np.empty(q), np.empty((q, q))
        kernels.lift(U, shift, basis, precision, mean, factor)
    if not np.logical_and.reduce(weights):  # rows without weight take no part: set their value
        rows = design[weights == 0.0]
        squares[weights == 0.0] = ((rows @ factor) ** 2).sum(axis=1) + (rows @ mean) ** 2
    return FixedPoint(mean, factor, bound, steps, change)


def climb_from(
    Z: Array, half: Array, weights: Array, squares: Array, tol: float, max_steps: int
) -> tuple[Array, Array, float, int, float]:
    """The fixed point in the coordinates Z `(n, r)`, r <= n, from `squares`, in place.

    Returns the upper factor U of M, shift = U'^-1 Z'h, the bound, steps and the last change.
    """
    from apm._kernels import variational as kernels

    U, shift, record = _climb(kernels.climb, Z, half, weights, squares, tol, max_steps)
    bound, steps, change, _ = record.tolist()
    if not change <= tol:  # hardly ever: a start that leads nowhere in double precision
        for start in (0.5 * np.einsum("ij,ij->i", Z, Z), np.ones(len(Z))):
            other = _climb(kernels.climb, Z, half, weights, start, tol, max_steps)
            higher, more, left, _ = other[2].tolist()
            steps += more
            if left <= tol or higher > bound:
                U, shift, bound, change = *other[:2], higher, left
                squares[:] = start
            if change <= tol:
                break
    return U, shift, bound, int(steps), change


def _lift(U: Array, shift: Array, basis: Array, precision: Array) -> tuple[Array, Array]:
    """As `lift` of the kernels, for a large basis."""
    from scipy.linalg import solve_triangular

    deviation = 1.0 / np.sqrt(precision)
    # below its diagonal U is not set: nothing is to look there
    inner = solve_triangular(U, basis, check_finite=False) - basis
    centre = solve_triangular(U, shift, check_finite=False)
    factor = basis.T @ inner
    factor[np.diag_indices(len(precision))] += 1.0
    factor *= deviation[:, None]
    return deviation * (centre @ basis), factor


def _climb(
    climb: Any, Z: Array, half: Array, weights: Array, t: Array, tol: float, max_steps: int
) -> tuple[Array, Array, Array]:
    """Climb from t, in place; return U, shift and the record of the kernel."""
    n, r = Z.shape
    U, G, shift = np.empty((r, r)), np.empty((r, n)), np.empty(r)
    work, record = np.empty((8, n)), np.zeros(4)
    while not climb(Z, half, weights, t, tol, max_steps, U, G, shift, work, record):
        mean, scale, step = work[0], work[3], work[4]
        rank = r * (r + 3) // 2
        if rank < min(n, DIRECT_ROWS, DIRECT_RATIO * r):
            definite = newton_low_rank(G, mean, scale, step)
        elif n <= min(DIRECT_ROWS, DIRECT_RATIO * r):
            definite = newton_direct(G, mean, scale, step)
        else:
            definite = newton_iterative(G, mean, scale, step, tol)
        record[3] = 2.0 if definite else 1.0
    return U, shift, record


def newton_direct(G: Array, mean: Array, scale: Array, right: Array) -> bool:
    """Overwrite `right` by (I - 2 c Q c)^-1 right; True if the matrix is positive definite.

    Otherwise its eigenvalues are replaced by their absolute values.
    """
    K = G.T @ G
    A = -2.0 * np.outer(scale, scale) * K * (K + 2.0 * np.outer(mean, mean))
    A[np.diag_indices(len(right))] += 1.0
    return _solve_absolute(A, right, low_rank=False)


def newton_low_rank(G: Array, mean: Array, scale: Array, right: Array) -> bool:
    """As `newton_direct` for r (r + 3) / 2 < n, where 2 c Q c = V V' with that many columns.

    K o K is the Gram matrix of the matrices g_i g_i', and (m m') o K that of the vectors m_i g_i.
    """
    a, b = np.tril_indices(len(G))
    pairs = G[a] * G[b] * np.where(a == b, np.sqrt(2.0), 2.0)[:, None]
    V = scale * np.concatenate((pairs, 2.0 * mean * G))
    parts = V @ right
    A = -V @ V.T
    A[np.diag_indices(len(parts))] += 1.0
    definite = _solve_absolute(A, parts, low_rank=True)
    right += parts @ V
    return definite


def _solve_absolute(A: Array, right: Array, *, low_rank: bool) -> bool:
    """Overwrite `right` by A^-1 right; where A is not positive definite, by f(A) right.

    f(x) is 1 / |x|, with `low_rank` (1 / |x| - 1) / (1 - x), |x| being at least FLATTEST.
    """
    if not np.isfinite(A).all():  # the climb falls back to plain EM
        right[:] = np.nan
        return False
    try:
        lower = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(A)
        size = np.maximum(np.abs(values), FLATTEST)
        divided = 1.0 / size
        if low_rank:  # above FLATTEST the two are the same
            low = values < FLATTEST
            divided[low] = (1.0 / size[low] - 1.0) / (1.0 - values[low])
        right[:] = vectors @ (divided * (vectors.T @ right))
        return False
    from scipy.linalg import cho_solve

    right[:] = cho_solve((lower, True), right)
    return True


def newton_iterative(G: Array, mean: Array, scale: Array, right: Array, tol: float) -> bool:
    """As `newton_direct` by conjugate gradients, in O(n r^2) per step and O(n r) memory.

    At a direction of negative curvature the solution so far is returned (the first is that of EM).
    """
    solution, residual = np.zeros_like(right), right.copy()
    direction = residual.copy()
    rho = float(residual @ residual)
    goal = rho * min(1e-2, max(tol, np.sqrt(rho) * 0.1)) ** 2
    for step in range(200):
        if rho <= goal or rho == 0.0:
            break
        spread = scale * direction
        inner = ((G * spread) @ G.T) @ G
        inner *= G
        pulled = inner.sum(axis=0) + 2.0 * mean * ((G @ (mean * spread)) @ G)
        image = direction - 2.0 * scale * pulled
        curvature = float(direction @ image)
        if curvature <= 0.0:
            if step:
                right[:] = solution
            return False
        length = rho / curvature
        solution += length * direction
        residual -= length * image
        before, rho = rho, float(residual @ residual)
        direction = residual + (rho / before) * direction
    right[:] = solution
    return True
