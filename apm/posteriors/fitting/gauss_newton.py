"""The most probable parameters of a non-linear encoder: Gauss-Newton with the Fisher form.

In coordinates u in which the prior is N(0, I), theta = m + F u, the parameters minimise

    J(u) = |u|^2 / 2 - sum_i s_i ln p(y_i | h(m + F u, x_i)).

With A_i = dh/du and B_i = E_y[-d^2 ln p(y|l)/dl^2], the Fisher information, the step solves
(I + sum_i A_i' B_i A_i) d = -grad J. The term that Gauss-Newton drops may be as large as the rest,
so pairs of steps and gradients correct it (L-BFGS with this matrix as its first guess).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from apm.encoders import Encoder
from apm.encoders.base import differences
from apm.encoders.calling import channel_inputs
from apm.posteriors.covariances.expansion import Factor, Spread, spread_of
from apm.posteriors.labels import Codes
from channelcode._validation import Array
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument, NotConverged

MAX_STEPS = 1000
MEMORY = 20  # pairs that are remembered
STEEP = 1e-4  # of Armijo's rule
SHORTEST = 1e-12  # step that is tried
CLOSE = 1e-9  # posterior deviations from the maximum, by the Newton decrement
NEAR = 1e-6  # what is still called converged where rounding allows no further step
RANK_RTOL = 1e-15  # of the largest eigenvalue: rounding
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


class Problem(NamedTuple):
    """Labels seen through an encoder and a channel, in coordinates of the prior.

    `rows` `(n, d)`, `codes` and `weights` `(n,)`; theta = centre + scale u with `centre` `(q,)` and
    `scale` `(q,)` or `(q, q)`.
    """

    encoder: Encoder
    channel: Channel
    rows: Array
    codes: Codes
    weights: Array
    centre: Array
    scale: Array

    def theta(self, u: Array) -> Array:
        """The parameters at u `(..., q)`."""
        return self.centre + (u * self.scale if self.scale.ndim == 1 else u @ self.scale.T)

    def coordinates(self, theta: Array) -> Array:
        """u at parameters `(..., q)`."""
        away = theta - self.centre
        if self.scale.ndim == 1:
            return away / self.scale
        return np.asarray(np.linalg.solve(self.scale, away.T).T, dtype=np.float64)

    def inputs(self, u: Array, X: Array) -> Array:
        """The channel inputs of rows X at every u `(s, q)`: `(n, s)` or `(n, s, k)`."""
        return channel_inputs(self.encoder, self.theta(u), X, self.channel)

    def value(self, u: Array) -> tuple[float, float]:
        """J(u) and the size of its rounding error; infinite where the encoder is not finite."""
        half = 0.5 * float(u @ u)
        if len(self.rows) == 0:
            return half, ROUNDING
        try:
            l = self.inputs(u[None], self.rows)[:, 0]
        except InvalidArgument:
            return np.inf, 0.0
        logs = self.channel.log_prob(l)[np.arange(len(self.codes)), self.codes]
        with np.errstate(invalid="ignore"):
            parts = np.where(self.weights > 0, self.weights * logs, 0.0)
        total = half - float(parts.sum())
        rounding = ROUNDING * (1.0 + half + float(np.abs(parts).sum()))
        return (total, rounding) if np.isfinite(total) else (np.inf, 0.0)

    def model(self, u: Array) -> tuple[Array, Array]:
        """The gradient of J `(q,)`, and rows G `(m, q)`: I + G'G is the Hessian's Fisher form."""
        if len(self.rows) == 0:
            return u.copy(), np.empty((0, len(u)))
        l = self.inputs(u[None], self.rows)[:, 0]
        slopes = whitened_jacobian(self, u, self.rows)  # (n, k, q)
        n, k, _ = slopes.shape
        found = self.channel.derivatives(l)
        probability = self.channel.prob(l)
        gradients = found.gradient.reshape(n, -1, k)
        pull = self.weights[:, None] * gradients[np.arange(n), self.codes]
        with np.errstate(invalid="ignore", over="ignore"):
            terms = np.sqrt(probability)[..., None] * gradients
        terms = np.where(probability[..., None] > 0, terms, 0.0)
        fisher = self.weights[:, None, None] * np.einsum("nyj,nyk->njk", terms, terms)
        rows = (psd_root(fisher) @ slopes).reshape(-1, slopes.shape[2])
        return u - pull.ravel() @ slopes.reshape(n * k, -1), rows


def whitened_jacobian(problem: Problem, u: Array, X: Array) -> Array:
    """dl/du of every row, `(n, k, q)`: what the channel sees of dl/dtheta, times the scale.

    An encoder without a jacobian of its own is differenced in units of the prior: a step that is
    small beside the parameters' own size, whatever that is.
    """
    if not problem.encoder.has_jacobian:
        encoder: Any = problem  # whose inputs at u are those of the encoder at theta(u)
        return checked_jacobian(differences(encoder, u, X), problem.channel, u, X)
    slopes = encoder_jacobian(problem.encoder, problem.channel, problem.theta(u), X)
    return slopes * problem.scale if problem.scale.ndim == 1 else slopes @ problem.scale


def encoder_jacobian(encoder: Encoder, channel: Channel, theta: Array, X: Array) -> Array:
    """dl/dtheta `(n, k, q)`, checked; logits are centred as their inputs are."""
    k, count = int(channel.dim), len(theta)
    found = np.asarray(encoder.jacobian(theta, X), dtype=np.float64)
    if encoder.is_linear and k > 1:  # one block for each coordinate of l
        found = np.einsum("jk,np->njkp", np.eye(k), found).reshape(len(X), k, count)
    return checked_jacobian(found, channel, theta, X)


def checked_jacobian(found: Array, channel: Channel, theta: Array, X: Array) -> Array:
    """A jacobian as `(n, k, q)`, of the right shape and finite, for logits that are centred."""
    k, count = int(channel.dim), len(theta)
    slopes = found[:, None, :] if found.ndim == 2 else found
    if slopes.shape != (len(X), k, count):
        expected = (len(X), count) if k == 1 else (len(X), k, count)
        raise InvalidArgument(
            "encoder.jacobian(theta, X)", f"must have shape {expected}", f"shape {found.shape}"
        )
    if not np.isfinite(slopes).all():
        row = int(np.argmax(~np.isfinite(slopes).all(axis=(1, 2))))
        shown = f"not so at theta = {theta.tolist()} for x = {np.asarray(X[row]).tolist()}"
        raise InvalidArgument("encoder.jacobian(theta, X)", "must be finite", shown)
    if k > 1:
        from apm.posteriors.input_projection import informative_projection

        slopes = informative_projection(channel) @ slopes
    return slopes


def psd_root(forms: Array) -> Array:
    """Roots R `(n, r, k)`, R'R the positive semidefinite `(n, k, k)`; rounding below zero is zero.

    Directions in which all forms vanish are left out: a softmax does not see a common shift.
    """
    if forms.shape[1] == 1:
        return np.sqrt(np.maximum(forms, 0.0))
    values, vectors = np.linalg.eigh(forms)
    first = 0
    while first < forms.shape[1] - 1 and not values[:, first].max() > RANK_RTOL * values.max():
        first += 1
    kept = np.sqrt(np.maximum(values[:, first:], 0.0))
    return kept[:, :, None] * np.swapaxes(vectors, 1, 2)[:, first:]


def inverse(rows: Array) -> Callable[[Array], Array]:
    """v -> (I + G'G)^-1 v, in the smaller of the two dimensions of G `(m, q)`."""
    from scipy.linalg import cho_factor, cho_solve

    m, q = rows.shape
    if m == 0:
        return lambda v: v
    if m < q:
        held = cho_factor(np.eye(m) + rows @ rows.T)
        return lambda v: v - rows.T @ cho_solve(held, rows @ v)
    held = cho_factor(np.eye(q) + rows.T @ rows)
    return lambda v: cho_solve(held, v)


class Maximum(NamedTuple):
    """A local maximum of the posterior.

    `u` `(q,)`, J there, the gradient of J in theta's own coordinates, the distance to the maximum
    in posterior deviations by the Newton decrement, (I + G'G)^-1, and the steps it took.
    """

    u: Array
    value: float
    gradient: Array
    decrement: float
    spread: Spread | Factor
    steps: int


def maximise(problem: Problem, start: Array) -> Maximum:
    """A local minimum of J from `start` `(q,)`; NotConverged if it is not one to 1e-6."""
    u = np.array(start, dtype=np.float64)
    value, rounding = problem.value(u)
    if not np.isfinite(value):
        raise NotConverged("the posterior has no density at the start: choose another prior", u)
    gradient, rows = problem.model(u)
    pairs: list[tuple[Array, Array]] = []
    decrement, steps, done = np.inf, 0, False
    while steps < MAX_STEPS:
        steps += 1
        solve = inverse(rows)
        decrement = float(np.sqrt(max(gradient @ solve(gradient), 0.0)))
        if decrement <= CLOSE:
            done = True
            break
        step = -_corrected(gradient, pairs, solve)
        descent = float(gradient @ step)
        if not descent < 0:
            pairs, step = [], -solve(gradient)
            descent = float(gradient @ step)
        length, moved = 1.0, False
        while length > SHORTEST:
            trial = u + length * step
            lower, noise = problem.value(trial)
            if lower <= value + STEEP * length * descent + max(rounding, noise):
                moved = True
                break
            length *= 0.5
        if not moved:
            if pairs:  # the memory may be of another place: once more without it
                pairs = []
                continue
            break
        later, later_rows = problem.model(trial)
        change, bend = trial - u, later - gradient
        settled = lower >= value - max(rounding, noise)  # no fall beyond rounding
        worse = float(np.sqrt(max(later @ solve(later), 0.0))) > decrement
        if settled and worse and decrement <= NEAR:
            break
        if change @ bend > 1e-10 * np.sqrt((change @ change) * (bend @ bend)):
            pairs = [*pairs[1 - MEMORY :], (change, bend)]
        u, value, rounding, gradient, rows = trial, lower, noise, later, later_rows
    if not done and not decrement <= NEAR:
        message = f"Gauss-Newton stopped {decrement:.1e} posterior deviations from the maximum: "
        raise NotConverged(message + "raise prior_precision, or scale the parameters", u)
    return expanded(problem, u, steps)


def expanded(problem: Problem, u: Array, steps: int = 0) -> Maximum:
    """What a maximum would say at u, whether it is one or not."""
    value, _ = problem.value(u)
    if not np.isfinite(value):
        raise InvalidArgument("theta", "must be possible under the labels", problem.theta(u))
    gradient, rows = problem.model(u)
    spread = spread_of(rows)
    decrement = float(np.linalg.norm(spread.image(gradient)))
    scale = problem.scale
    own: Any = gradient / scale if scale.ndim == 1 else np.linalg.solve(scale.T, gradient)
    return Maximum(u, value, np.asarray(own), decrement, spread, steps)


def _corrected(
    gradient: Array, pairs: list[tuple[Array, Array]], solve: Callable[[Array], Array]
) -> Array:
    """H^-1 gradient by the two loops of L-BFGS, with the Fisher form as the first guess of H."""
    rest = gradient.copy()
    shares = []
    for change, bend in reversed(pairs):
        share = float(change @ rest) / float(change @ bend)
        rest -= share * bend
        shares.append(share)
    step = solve(rest)
    for (change, bend), share in zip(pairs, reversed(shares), strict=True):
        step += (share - float(bend @ step) / float(change @ bend)) * change
    return step
