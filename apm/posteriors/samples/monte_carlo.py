"""One label of sequential Monte Carlo: tempered weights, systematic resampling, Metropolis moves.

With w the weights before the label and p(theta) its likelihood, phi grows from 0 to 1:

    largest d with ESS(w p^d) >= S/2;   ln Z += ln sum_s w_s p_s^d;   w <- w p^d, normalised.

Where that stops short of 1, the draws are resampled and moved under prior x past labels x p^phi by
Metropolis steps, in turn from the Gaussian of the draws and by random walks about each of them (a
wide one, covariance (2.38^2 / q) Cov(theta), then a narrow one). The noise of one half of the draws
is the mirror image of the other's, which leaves each draw's law as it is and cancels odd errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array
from channelcode.errors import NotConverged

LEAST_SHARE = 0.5  # of the draws that must count: below it they are resampled
WIDE, NARROW = 2.38, 0.7  # of a random walk, in deviations over sqrt(q)
INFLATED = 1.1  # deviations of a proposal from the Gaussian of the draws, whose tails are too thin
BISECTIONS = 60  # of a step within [0, 1]: to rounding
JITTER = 1e-10  # of a correlation matrix, so that its root exists; a move needs no more digits
MAX_STEPS = 10_000  # of one label, each of which leaves half of the draws


class Cloud(NamedTuple):
    """Draws `(s, q)`, log-weights, log prior density and log likelihood `(s,)`, and the tally."""

    theta: Array
    log_weights: Array
    log_prior: Array
    log_likelihood: Array
    log_evidence: float = 0.0
    accepted: float = 0.0
    proposed: float = 0.0
    resamplings: float = 0.0

    @classmethod
    def of_prior(cls, theta: Array, log_prior: Array) -> Self:
        """Draws from the prior, all alike."""
        count = len(theta)
        return cls(theta, np.full(count, -np.log(count)), log_prior, np.zeros(count)).frozen()

    def frozen(self) -> Self:
        """The same, not to be written to."""
        for array in self[:4]:
            array.setflags(write=False)
        return self


class Target(NamedTuple):
    """Log-densities of theta `(s, q)`: the prior, the labels before, and the new label, `(s,)`."""

    log_prior: Callable[[Array], Array]
    past: Callable[[Array], Array]
    new: Callable[[Array], Array]


def absorb(cloud: Cloud, target: Target, rng: np.random.Generator, moves: int) -> Cloud | None:
    """The draws after one more label; None if it is impossible under all that have weight."""
    new = target.new(cloud.theta)
    logs = np.where(np.isneginf(new), -np.inf, cloud.log_weights)  # p^d -> 1[p > 0] as d -> 0
    if logs.max() == -np.inf:
        return None
    logs, gained = _normalised(logs)
    cloud = cloud._replace(log_weights=logs, log_evidence=cloud.log_evidence + gained)
    phi, fresh = 0.0, False
    for _ in range(MAX_STEPS):
        finite = np.where(np.isneginf(new), 0.0, new)  # those have no weight
        step = _largest_step(cloud.log_weights, finite, 1.0 - phi)
        logs, gained = _normalised(cloud.log_weights + step * finite)
        cloud = cloud._replace(log_weights=logs, log_evidence=cloud.log_evidence + gained)
        if step >= 1.0 - phi:
            return cloud._replace(log_likelihood=cloud.log_likelihood + new).frozen()
        if phi + step == phi and fresh:  # draws of equal weight, and still no step is small enough
            break
        phi, fresh = phi + step, True
        cloud, new = _refreshed(cloud, new, target, phi, rng, moves)
    raise NotConverged(
        "a label's likelihood is too steep for these draws: its logarithm varies by "
        f"{np.ptp(new[np.isfinite(new)]):.3g} nats over them (at {phi:.3g} of the label)"
    )


def _normalised(logs: Array) -> tuple[Array, float]:
    largest = float(logs.max())
    with np.errstate(under="ignore"):
        total = largest + float(np.log(np.exp(logs - largest).sum()))
    return logs - total, total


def _effective_share(logs: Array) -> float:
    """ESS over the number of draws, for log-weights of any scale."""
    with np.errstate(under="ignore"):
        weights = np.exp(logs - logs.max())
    return float(np.square(weights.sum()) / (len(weights) * np.square(weights).sum()))


def _largest_step(logs: Array, new: Array, left: float) -> float:
    """The largest d in [0, left] that leaves enough of the draws, by bisection."""
    if _effective_share(logs + left * new) >= LEAST_SHARE:
        return left
    low, high = 0.0, left
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if _effective_share(logs + middle * new) >= LEAST_SHARE:
            low = middle
        else:
            high = middle
    return low


def _refreshed(
    cloud: Cloud, new: Array, target: Target, phi: float, rng: np.random.Generator, moves: int
) -> tuple[Cloud, Array]:
    """Resampled and moved draws of equal weight, and the new label's log-likelihoods there."""
    count, q = cloud.theta.shape
    weights = np.exp(cloud.log_weights)
    weights /= weights.sum()
    centre, root = weights @ cloud.theta, _root(cloud.theta, weights)
    chosen = systematic(weights, rng)
    theta, new = cloud.theta[chosen], new[chosen]
    prior, past = cloud.log_prior[chosen], cloud.log_likelihood[chosen]
    accepted = 0
    for move in range(moves):
        noise = mirrored(count, q, rng)
        if move % 2 or not np.diag(root).all():  # draws that all agree have no inverse
            scale = (NARROW if move % 4 == 3 else WIDE) / np.sqrt(q)
            proposed, favour = theta + scale * noise @ root.T, np.zeros(count)
        else:
            proposed = centre + INFLATED * noise @ root.T
            back = np.linalg.solve(root, (theta - centre).T) / INFLATED
            favour = 0.5 * (np.square(noise).sum(axis=1) - np.square(back).sum(axis=0))
        threshold = np.log(rng.random(count))
        there = target.log_prior(proposed)
        inside = there > -np.inf  # the encoder is not asked about what cannot be
        before, now = np.full(count, -np.inf), np.full(count, -np.inf)
        if inside.any():
            before[inside] = target.past(proposed[inside])
            now[inside] = target.new(proposed[inside])
        possible = inside & (before > -np.inf) & (now > -np.inf)
        gain = np.full(count, -np.inf)
        ahead = there[possible] + before[possible] + phi * now[possible]
        gain[possible] = ahead - (prior + past + phi * new - favour)[possible]
        taken = threshold < gain
        theta = np.where(taken[:, None], proposed, theta)
        prior, past = np.where(taken, there, prior), np.where(taken, before, past)
        new = np.where(taken, now, new)
        accepted += int(taken.sum())
    moved = cloud._replace(
        theta=theta,
        log_weights=np.full(count, -np.log(count)),
        log_prior=prior,
        log_likelihood=past,
        accepted=cloud.accepted + accepted,
        proposed=cloud.proposed + moves * count,
        resamplings=cloud.resamplings + 1,
    )
    return moved, new


def mirrored(count: int, q: int, rng: np.random.Generator) -> Array:
    """Standard normal noise `(count, q)`, each row with its mirror image: odd errors cancel."""
    half = rng.standard_normal(((count + 1) // 2, q))
    return np.concatenate((half, -half))[:count]


def systematic(weights: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places `(s,)`, each as often as its weight says up to one, by a single uniform number.

    >>> systematic(np.array([0.5, 0.0, 0.25, 0.25]), np.random.default_rng(0)).tolist()
    [0, 0, 2, 3]
    """
    count = len(weights)
    cumulative = np.cumsum(weights)
    places = (rng.random() + np.arange(count)) / count * cumulative[-1]
    found = np.searchsorted(cumulative, places, side="right")
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(found, last)  # a place may round beyond the sum


def _root(theta: Array, weights: Array) -> Array:
    """A root L `(q, q)` of the draws' covariance, in units of their deviations."""
    unit = np.maximum(np.abs(theta).max(axis=0), np.finfo(np.float64).tiny)
    scaled = theta / unit
    centred = scaled - weights @ scaled
    deviations = np.sqrt(weights @ np.square(centred))
    white = centred / np.where(deviations > 0, deviations, 1.0)
    correlation = (white.T * weights) @ white + JITTER * np.eye(theta.shape[1])
    return (unit * deviations)[:, None] * np.linalg.cholesky(correlation)
