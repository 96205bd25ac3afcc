"""Channel inputs of a pool at given parameters: the most probable ones, or posterior draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.posteriors import Bohning, KroneckerCovariance, Laplace
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool

CHUNK_ENTRIES = 1 << 19  # four mebibytes of float64 in each temporary


def inputs_at(belief: Belief, X: Any, parameters: Array) -> Array:
    """l for every row of X; <theta, phi(x)>, unless the posterior has an encoder of its own.

    Parameters `(q,)` give `(n,)`; `(k, q)` for a channel input in R^k give `(n, k)`; leading axes
    of draws, `(s, q)` or `(s, k, q)`, give `(n, s)` or `(n, s, k)`. The intercept is last in q.
    """
    return belief.posterior.inputs(parameters, belief.encoder.encode(X))


def parameter_draws(belief: Belief, samples: int, rng: np.random.Generator) -> Array:
    """Draws from a posterior: `(s, q)` on the line, `(s, k, q)` in R^k if it is Gaussian.

    One made of weighted samples gives some of them, `(s, q)`, each as often as its mass says.
    """
    posterior: Any = belief.posterior
    if posterior.gives_samples:
        return posterior.theta[rng.choice(len(posterior.theta), samples, p=posterior.weights)]
    if isinstance(posterior, ScalarGaussian):
        return posterior.sample(samples, rng=rng)
    mean = np.asarray(posterior.mean)
    noise = rng.standard_normal((samples, *mean.shape))
    covariance = posterior.covariance
    if isinstance(covariance, KroneckerCovariance):
        inner = covariance.features.draw(noise.reshape(-1, mean.shape[1]))
        return mean + _root(covariance.outer) @ inner.reshape(noise.shape)
    factor = _root(np.asarray(covariance))
    return mean + (noise.reshape(samples, -1) @ factor.T).reshape(noise.shape)


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))  # rounding may fall below zero


def by_draws(belief: Belief, samples: int | None, rng: np.random.Generator) -> Belief:
    """The belief by draws of theta, where the parameters enter non-linearly; else as it is.

    With `samples` None there is nothing to draw.
    """
    drawn = getattr(belief.posterior, "drawn", None)
    if samples is None or drawn is None:
        return belief
    return Belief(drawn(samples, rng), belief.encoder, belief.channel)


def gives_samples(belief: Belief, X: Any) -> bool:
    """Whether the induced laws of this belief are samples, and not Gaussian."""
    if belief.posterior.gives_samples:
        return True
    if isinstance(belief.posterior, ScalarGaussian | Laplace | Bohning):
        return False
    return isinstance(belief.push(belief.matrix(X)[:1]), EmpiricalPool)


def drawn_inputs(belief: Belief, X: Any, samples: int, rng: np.random.Generator) -> Iterator[Array]:
    """Channel inputs `(rows, s)` or `(rows, s, k)` in pieces of the pool, one theta for each s.

    Every row sees the same draws of theta, as in the paper's InfoGain. A posterior that is known by
    its samples draws from them, by their weights.
    """
    matrix = belief.matrix(X)
    belief = by_draws(belief.sized(matrix), samples, rng)
    width = max(samples, 1) * belief.channel.dim
    rows = max(1, CHUNK_ENTRIES // max(width, matrix.shape[1]))
    if belief.posterior.gives_samples:
        laws: Any = belief.push(matrix[:1])
        drawn = rng.choice(len(laws.weights), size=samples, p=laws.weights)
        for start in range(0, len(matrix), rows):
            laws = belief.push(matrix[start : start + rows])
            yield laws.samples[:, drawn]
        return
    theta = parameter_draws(belief, samples, rng)
    for start in range(0, len(matrix), rows):
        yield inputs_at(belief, matrix[start : start + rows], theta)


def point_inputs(belief: Belief, X: Any) -> Array:
    """Channel inputs at the most probable theta: `(n,)`, or `(n, k)` in R^k."""
    matrix = belief.matrix(X)
    if len(matrix) == 0:
        raise InvalidArgument("X", "must have at least one row", f"shape {matrix.shape}")
    forms = belief.forms(matrix)
    if forms is not None:
        return forms.mean  # under Bohning's bound the mean is the most probable theta
    belief = belief.sized(matrix)
    theta = np.asarray(belief.posterior.map)
    rows = max(1, CHUNK_ENTRIES // matrix.shape[1])
    pieces = [
        inputs_at(belief, matrix[start : start + rows], theta)
        for start in range(0, len(matrix), rows)
    ]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
