"""The most probable weights of softmax regression, to rounding.

In whitened coordinates z_i `(n, r)` the weights V `(k, r)` minimise

    J = |V|^2 / 2 + sum_i s_i (ln sum_a exp(l_ia) - l_iy),   l_i = V z_i.

The Hessian is that of K separate problems less a matrix of rank n,

    H = diag(A_a) - sum_i s_i (p_i (x) z_i)(p_i (x) z_i)',   A_a = I + sum_i s_i p_ia z_i z_i',

so one n x n system joins K systems of size r (Williams and Barber, 1998), and no `(k r, k r)`
matrix is formed. It is factored once, at the start; a quasi-Newton iteration corrects what has
changed since, and it is factored anew only when that goes slowly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from apm.posteriors.labels import Codes
from channelcode._validation import Array
from channelcode.errors import NotConverged

MAX_STEPS = 500
REFRESH = 12  # quasi-Newton steps after which a new factor is cheaper than more of them
MORE = 24  # the same where steps are compiled
TOLERANCE = 1e-9  # of the last step, relative to the weights; the error after it is far smaller
NOISE = 4.0 * float(np.finfo(np.float64).eps)
PROVED = 1e-7  # distance from the maximum, relative to the weights, that is let pass
LARGE = 1e8  # squared length of a whitened row above which the joint system loses digits
LARGEST_DENSE = 2000  # unknowns of the system that is solved as a whole instead
PIECE = 1 << 22  # entries of a temporary
STEEP = 1e-4  # of Armijo's rule
LEAST = 1e-18  # the shortest step that is tried


class Point(NamedTuple):
    """A trial point: loss and its rounding, gradient `(k, r)`, probabilities, inputs `(n, k)`."""

    loss: float
    noise: float
    gradient: Array
    probability: Array
    inputs: Array


def softmax_point(Z: Array, codes: Codes, weights: Array, V: Array) -> Point:
    """The loss and what its derivatives are made of, at V `(k, r)`."""
    rows = np.arange(len(codes))
    inputs = Z @ V.T
    top = inputs.max(axis=1, keepdims=True)
    probability = np.exp(inputs - top)
    total = probability.sum(axis=1, keepdims=True)
    probability /= total
    losses = top[:, 0] + np.log(total[:, 0]) - inputs[rows, codes]
    gradient = V + residuals(codes, weights, probability).T @ Z
    loss = 0.5 * float(np.vdot(V, V)) + float(weights @ losses)
    noise = NOISE * (1.0 + abs(loss) + float(weights @ np.abs(top[:, 0])))
    return Point(loss, noise, gradient, probability, inputs)


def residuals(codes: Codes, weights: Array, probability: Array) -> Array:
    """s_i (p_ia - [a = y_i]), `(n, k)`; for the label itself from the others."""
    rows = np.arange(len(codes))
    result = probability * weights[:, None]
    result[rows, codes] = 0.0
    result[rows, codes] = -result.sum(axis=1)
    return result


def complements(probability: Array) -> Array:
    """1 - p, `(n, k)`; for the likeliest class as the sum of the others, without cancellation."""
    rows, top = np.arange(len(probability)), probability.argmax(axis=1)
    result = 1.0 - probability
    others = probability.copy()
    others[rows, top] = 0.0
    result[rows, top] = others.sum(axis=1)
    return result


class Curvature:
    """The Hessian at one point, factored: `solve(G)` is H^-1 G for a centred G."""

    def __init__(self, Z: Array, weights: Array, probability: Array) -> None:
        (n, r), k = Z.shape, probability.shape[1]
        self._Z, self._weights, self._probability = Z, weights, probability
        self._lever = probability * np.sqrt(weights)[:, None]
        self._dense = None
        long = float((weights * np.einsum("ij,ij->i", Z, Z)).max(initial=0.0)) > LARGE
        few = (k * r) ** 3 / 3 + k * k * n * r * r <= k * (r**3 + n * r * r + n * n * r)
        if few or (long and k * r <= LARGEST_DENSE):
            self._dense = _dense_factor(Z, weights, probability)
            return
        from scipy.linalg import lapack

        library: Any = lapack
        blocks = np.matmul(Z.T * (probability * weights[:, None]).T[:, None, :], Z)
        blocks[:, np.arange(r), np.arange(r)] += 1.0
        self._roots = np.empty((k, r, r))  # L^-1 for each A = L L'
        joint = np.eye(n)
        group = max(1, PIECE // max(r * n, 1))
        for start in range(0, k, group):
            images = np.empty((min(group, k - start), r, n))
            for a, lower in enumerate(np.linalg.cholesky(blocks[start : start + group]), start):
                self._roots[a] = library.dtrtri(lower, lower=1)[0]
                np.matmul(self._roots[a], Z.T * self._lever[:, a], out=images[a - start])
            stacked = images.reshape(-1, n)
            joint -= stacked.T @ stacked
        self._joint = _safe_factor(joint)

    def times(self, V: Array) -> Array:
        """H V for V `(k, r)`."""
        along = self._Z @ V.T
        mean = np.einsum("nk,nk->n", self._probability, along)
        curved = self._probability * (along - mean[:, None]) * self._weights[:, None]
        return V + curved.T @ self._Z

    def solve(self, gradient: Array) -> Array:
        """H^-1 G for G `(k, r)`."""
        from scipy.linalg import cho_solve

        if self._dense is not None:
            flat = cho_solve(self._dense, gradient.ravel(), check_finite=False)
            step = flat.reshape(gradient.shape)
            return step - step.mean(axis=0)
        own = self._own(gradient)
        pulled = np.einsum("nk,nk->n", self._Z @ own.T, self._lever)
        shared = cho_solve(self._joint, pulled, check_finite=False)
        back = (self._lever * shared[:, None]).T @ self._Z
        return own + self._own(back)

    def descend(self, codes: Codes, V: Array) -> tuple[Array, int, bool]:
        """Full quasi-Newton steps from V `(k, r)` around this factor, compiled.

        Where they led, how many, and whether the last was small. They end early where a step does
        not lower the loss: the caller goes on from there.
        """
        from apm._kernels.softmax_descent import descend

        none = np.empty((0, 0))
        roots = np.empty((0, 0, 0)) if self._dense is not None else self._roots
        dense, joint = none, none
        if self._dense is not None:
            dense = np.ascontiguousarray(self._dense[0].T)
        else:
            joint = np.ascontiguousarray(self._joint[0].T)
        VT = np.ascontiguousarray(V.T)
        taken, small = descend(
            np.ascontiguousarray(self._Z), np.ascontiguousarray(self._Z.T), codes, self._weights,
            VT, self._lever, roots, joint, dense, MORE, 0.1 * TOLERANCE, STEEP, NOISE,
        )  # fmt: skip
        return np.ascontiguousarray(VT.T), taken, small

    def _own(self, gradient: Array) -> Array:
        """A_a^-1 g_a of every class, `(k, r)`."""
        half = np.matmul(self._roots, gradient[:, :, None])
        return np.matmul(self._roots.swapaxes(1, 2), half)[:, :, 0]


def _dense_factor(Z: Array, weights: Array, probability: Array) -> tuple[Array, bool]:
    """A factor of H and a multiple of the common shift of all classes, to which G is orthogonal."""
    k = probability.shape[1]
    spread = complements(probability) * probability * weights[:, None]
    return _safe_factor(_hessian(Z, weights, probability, spread, spread.sum(axis=1) / k**2))


def laplace_evidence(Z: Array, V: Array, codes: Codes, weights: Array) -> float:
    """ln p(y) to second order at the maximum V `(k, r)`, under the prior N(0, I) on centred V.

    The common shift of all classes, of which the labels say nothing, adds nothing to either part.
    """
    here = softmax_point(Z, codes, weights, V)
    spread = complements(here.probability) * here.probability * weights[:, None]
    hessian = _hessian(Z, weights, here.probability, spread, np.zeros(len(Z)))
    lower, _ = _safe_factor(hessian)
    return float(-here.loss - np.log(np.diag(lower)).sum())


def _hessian(Z: Array, weights: Array, probability: Array, spread: Array, shift: Array) -> Array:
    """I + Z'WZ, `(k r, k r)`, with `shift` `(n,)` added to every block of W."""
    k, r = probability.shape[1], Z.shape[1]
    hessian = np.empty((k, r, k, r))
    for a in range(k):
        for b in range(a, k):
            curve = spread[:, a] if a == b else -weights * probability[:, a] * probability[:, b]
            block = (Z.T * (curve + shift)) @ Z
            if a == b:
                block[np.diag_indices(r)] += 1.0
            hessian[a, :, b, :] = hessian[b, :, a, :] = block
    return hessian.reshape(k * r, k * r)


def _safe_factor(matrix: Array) -> tuple[Array, bool]:
    """A Cholesky factor; of a slightly larger matrix where rounding made this one indefinite."""
    slack, own = 0.0, np.diag(np.diag(matrix))
    while True:
        try:
            lower: Any = np.linalg.cholesky(matrix + slack * own)
            return lower, True
        except np.linalg.LinAlgError:
            slack = max(1e-15, 10.0 * slack)


def softmax_maximum(Z: Array, codes: Codes, weights: Array, start: Array) -> tuple[Array, int]:
    """Minimise J from `start` `(k, r)`; return the weights `(k, r)` and the steps it took.

    Done when the last step is below 1e-9 of the weights, or when the gradient is nothing but the
    rounding of its own terms (labels that cancel each other exactly).
    """
    if start.size == 0:  # rows without features
        return start, 0
    if len(Z) < Z.shape[1]:  # the maximum lies in the span of the rows
        frame, coordinates = np.linalg.qr(Z.T)
        found, steps = softmax_maximum(coordinates.T.copy(), codes, weights, start @ frame)
        return found @ frame.T, steps
    V = start - start.mean(axis=0)
    here = softmax_point(Z, codes, weights, V)
    if not np.isfinite(here.loss):
        V = np.zeros_like(V)
        here = softmax_point(Z, codes, weights, V)
    curvature = Curvature(Z, weights, here.probability)
    quick = 0
    while quick < MAX_STEPS:
        V, taken, small = curvature.descend(codes, V)
        quick += taken
        if taken:
            here = softmax_point(Z, codes, weights, V)
        if small and _is_close(Z, weights, V, here):
            return V - V.mean(axis=0), quick
        if small or not taken:
            break
        curvature = Curvature(Z, weights, here.probability)
    pairs: list[tuple[Array, Array, float]] = []
    sizes = np.abs(Z)
    for steps in range(1, MAX_STEPS + 1):
        step = _two_loops(curvature, pairs, here.gradient)
        descent = float(np.vdot(step, here.gradient))
        length = 1.0
        while True:
            trial = V - length * step
            there = softmax_point(Z, codes, weights, trial)
            if _accepted(here, there, descent, length, step) or length < LEAST:
                break
            length *= 0.5
        move, turn = trial - V, there.gradient - here.gradient
        V, here = trial, there
        small = float(np.abs(move).max()) <= TOLERANCE * float(np.abs(V).max())
        if descent <= here.noise and _is_rounding(sizes, codes, weights, V, here):
            return V - V.mean(axis=0), steps
        if small and length == 1.0:
            if _is_close(Z, weights, V, here):
                return V - V.mean(axis=0), steps
            curvature, pairs = Curvature(Z, weights, here.probability), []
            continue
        curved = float(np.vdot(move, turn))
        if length < 1.0 or len(pairs) == REFRESH or not curved > 0.0:
            curvature, pairs = Curvature(Z, weights, here.probability), []
        else:
            pairs.append((move, turn, 1.0 / curved))
    raise NotConverged(
        f"the softmax maximum was not reached in {MAX_STEPS} steps: "
        "raise prior_precision or scale the features",
        V,
    )


def _is_close(Z: Array, weights: Array, V: Array, here: Point) -> bool:
    """Whether V is the maximum, by more than the length of a step that a bad factor may have made.

    The curvature is at least one, so the distance is at most the gradient's norm. Where that does
    not decide (long rows), a Newton step must be short, and must solve its system.
    """
    size, slope = float(np.linalg.norm(V)), float(np.linalg.norm(here.gradient))
    if slope <= PROVED * size:
        return True
    curvature = Curvature(Z, weights, here.probability)
    step = curvature.solve(here.gradient)
    left = float(np.linalg.norm(curvature.times(step) - here.gradient))
    return left <= 0.1 * slope and float(np.linalg.norm(step)) <= PROVED * size


def _accepted(here: Point, there: Point, descent: float, length: float, step: Array) -> bool:
    """Armijo's rule, or, where the loss differs by rounding only, that of the slope."""
    if there.loss <= here.loss - STEEP * length * descent:
        return True
    ahead = -float(np.vdot(step, there.gradient))
    return there.loss <= here.loss + there.noise and ahead <= 0.8 * descent


def _two_loops(curvature: Curvature, pairs: list[tuple[Array, Array, float]], G: Array) -> Array:
    """Limited-memory BFGS on top of the factored Hessian."""
    direction, shares = G, []
    for move, turn, inverse in reversed(pairs):
        share = inverse * float(np.vdot(move, direction))
        direction = direction - share * turn
        shares.append(share)
    direction = curvature.solve(direction)
    for (move, turn, inverse), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - inverse * float(np.vdot(turn, direction))) * move
    return direction


def _is_rounding(sizes: Array, codes: Codes, weights: Array, V: Array, here: Point) -> bool:
    """Whether the gradient is within the rounding of the terms that it is the sum of."""
    terms = np.abs(residuals(codes, weights, here.probability)) * (1.0 + np.abs(here.inputs))
    return bool((np.abs(here.gradient) <= NOISE * (np.abs(V) + terms.T @ sizes)).all())
