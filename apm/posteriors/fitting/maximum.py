"""The most probable weights for any channel: Newton with the exact Hessian and a line search.

The weights theta `(k, q)` minimise

    J = sum_j lambda_j |theta_j|^2 / 2 - sum_i s_i ln p(y_i | theta x_i).

With fewer labels than features the minimum lies in the span of the examples, and is sought there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from apm.posteriors.covariances.structures import full_hessian
from apm.posteriors.fitting.softmax_maximum import softmax_maximum
from apm.posteriors.labels import Codes
from channelcode._validation import Array
from channelcode.channels import Channel, Softmax
from channelcode.errors import NotConverged

MAX_STEPS = 500
DIRECT_SIZE = 400  # unknowns above which the Newton system is solved by conjugate gradients
STEEP = 1e-4  # of Armijo's rule
SHORTEST = 1e-18  # step that is tried
TOLERANCE = 1e-9  # of the last step, relative to the weights: the error left is about its square
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


class Maximum(NamedTuple):
    """The weights `(k, q)`, and the Newton steps it took."""

    weights: Array
    steps: int


def inputs_of(channel: Channel, design: Array, weights: Array) -> Array:
    """The channel inputs of the examples: `(n,)` on the line, `(n, k)` in R^k."""
    l = design @ weights.T
    return l[:, 0] if channel.dim == 1 else l


def label_derivatives(channel: Channel, codes: Codes, l: Array) -> tuple[Array, Array]:
    """Gradient `(n, k)` and Hessian `(n, k, k)` of ln p(y_i | l_i)."""
    if len(codes) == 0:
        return np.empty((0, channel.dim)), np.empty((0, channel.dim, channel.dim))
    found = channel.derivatives(l)
    rows = np.arange(len(codes))
    gradient, hessian = found.gradient[rows, codes], found.hessian[rows, codes]
    k = channel.dim
    return gradient.reshape(len(codes), k), hessian.reshape(len(codes), k, k)


def convex_part(curvatures: Array) -> Array:
    """Per-label curvatures with negative eigenvalues set to zero, `(n, k, k)`."""
    if curvatures.shape[1] == 1:
        return np.maximum(curvatures, 0.0)
    values, vectors = np.linalg.eigh(0.5 * (curvatures + np.swapaxes(curvatures, 1, 2)))
    return (vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def span(design: Array, precision: Array) -> tuple[Array, Array | None]:
    """Coordinates of the whitened examples, and the orthonormal rows `(r, q)` they refer to.

    The basis is None when the coordinates are the features themselves.
    """
    whitened = np.ascontiguousarray(design / np.sqrt(precision))  # a new array: to be overwritten
    if len(design) >= design.shape[1]:
        return whitened, None
    from apm._kernels.dense import row_basis

    coordinates = np.empty((len(whitened), len(whitened)))
    rank = row_basis(whitened, coordinates)
    return np.ascontiguousarray(coordinates[:, :rank]), whitened[:rank]


def maximise(
    channel: Channel,
    design: Array,
    *,
    codes: Codes,
    weights: Array,
    precision: Array,
    start: Array | None,
) -> Maximum:
    """Minimise J from `start` `(k, q)`; for a channel that is not log-concave, a local minimum."""
    k, (n, q) = channel.dim, design.shape
    if n == 0:
        return Maximum(np.zeros((k, q)), 0)
    Z, basis = span(design, precision)
    first = np.zeros((k, q)) if start is None else start * np.sqrt(precision)
    V = first if basis is None else first @ basis.T
    if type(channel) is Softmax:
        V, steps = softmax_maximum(Z, codes, weights, V)
    else:
        V, steps = newton(channel, Z, codes, weights, V)
    return Maximum((V if basis is None else V @ basis) / np.sqrt(precision), steps)


def newton(channel: Channel, Z: Array, codes: Codes, weights: Array, V: Array) -> tuple[Array, int]:
    """Newton with a line search from V `(k, r)` in whitened coordinates; V and the steps.

    Done when a full step is below 1e-9 of the weights, or when the slope is nothing but the
    rounding of its own terms, as where labels cancel each other and the maximum is exactly zero.
    """
    if V.size == 0:  # rows without features
        return V, 0
    sizes, ones = np.abs(Z), np.ones(Z.shape[1])

    def loss(V: Array) -> tuple[float, float]:
        logs = channel.log_prob(inputs_of(channel, Z, V))[np.arange(len(codes)), codes]
        with np.errstate(invalid="ignore", over="ignore"):  # a trial step may be far out
            parts = np.where(weights > 0, weights * logs, 0)
            total = 0.5 * float(np.sum(V * V)) - float(parts.sum())
        return (total, ROUNDING * (1.0 + total)) if np.isfinite(total) else (np.inf, 0.0)

    value, noise = loss(V)
    if value == np.inf:
        V = np.zeros_like(V)
        value, noise = loss(V)
    change = np.inf
    for steps in range(1, MAX_STEPS + 1):
        l = inputs_of(channel, Z, V)
        gradient, hessian = label_derivatives(channel, codes, l)
        pull = weights[:, None] * gradient
        slope = V - pull.T @ Z
        reach = sizes @ np.abs(V).T  # an input is off by the rounding of its own terms
        bends = weights[:, None, None] * hessian
        terms = np.abs(pull) + (np.abs(bends) @ reach[:, :, None])[:, :, 0]
        noise += ROUNDING * float(np.sum(np.abs(pull) * reach))
        if (np.abs(slope) <= ROUNDING * (np.abs(V) + terms.T @ sizes)).all():
            return V, steps
        step = newton_step(-bends, Z, slope, ones)
        descent = float(np.sum(slope * step))
        length = 1.0
        while length > SHORTEST:
            lower, rounding = loss(V - length * step)
            if lower <= value - STEEP * length * descent + max(noise, rounding):
                break
            length *= 0.5
        else:
            break
        V, value, noise = V - length * step, lower, rounding
        scale = max(float(np.abs(V).max()), float(np.finfo(float).tiny))
        change = length * float(np.abs(step).max()) / scale
        if length == 1.0 and change <= TOLERANCE:
            return V, steps
    message = f"Newton moved the weights by {change:.1e} (relative) at its last step: "
    raise NotConverged(message + "raise prior_precision or scale the features", V)


def newton_step(curvatures: Array, Z: Array, slope: Array, precision: Array) -> Array:
    """H^-1 slope; where H is not positive definite, with the convex part of each label instead."""
    if slope.size > DIRECT_SIZE:
        return _conjugate_gradients(convex_part(curvatures), Z, slope, precision)
    for part in (lambda c: c, convex_part):
        hessian = full_hessian(part(curvatures), Z, precision)
        try:
            lower = np.linalg.cholesky(hessian)
        except np.linalg.LinAlgError:
            continue
        from scipy.linalg import cho_solve

        return cho_solve((lower, True), slope.ravel()).reshape(slope.shape)
    return slope  # rounding made even the convex form fail: steepest descent


def _conjugate_gradients(curvatures: Array, Z: Array, slope: Array, precision: Array) -> Array:
    """The Newton step for many unknowns, preconditioned by one matrix for all classes.

    The matrix is lambda I + Z'Z tr(W)/k; for softmax this is close to Bohning's bound.
    """
    from scipy.linalg import cho_factor, cho_solve

    k = slope.shape[0]
    level = np.einsum("naa->n", curvatures) / k
    common = (Z.T * level) @ Z
    common[np.diag_indices(len(precision))] += precision
    factor = cho_factor(common)
    step = np.zeros_like(slope)
    residual = slope.copy()
    ready = cho_solve(factor, residual.T).T
    direction = ready
    rho = float(np.sum(residual * ready))
    goal = 1e-24 * rho  # the square of the relative error
    for _ in range(10 * slope.size):
        image = direction * precision
        image = image + np.einsum("nab,nb->na", curvatures, Z @ direction.T).T @ Z
        length = rho / float(np.sum(direction * image))
        step = step + length * direction
        residual = residual - length * image
        ready = cho_solve(factor, residual.T).T
        before, rho = rho, float(np.sum(residual * ready))
        if rho <= goal:
            break
        direction = ready + (rho / before) * direction
    return step
