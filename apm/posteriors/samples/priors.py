"""What may be given as a prior of the parameters: masses, a Gaussian, or a density."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from channelcode._numerics.logspace import HALF_LOG_TWO_PI
from channelcode._numerics.sobol import scrambled_normals
from channelcode._validation import Array, finite_array, real_array
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian, Measure

ACCEPTED = (
    "must be a Gaussian, an object with log_density(theta) or logpdf(theta), or a function that "
    "gives the density at theta (s, q)"
)


def is_density(prior: Any) -> bool:
    """Whether a prior is a density rather than masses."""
    named = hasattr(prior, "log_density") or hasattr(prior, "logpdf")
    return isinstance(prior, Measure) or named or callable(prior)


def log_masses(prior: Any, shape: tuple[int, ...]) -> Array:
    """ln of the masses of a grid's points, `(s,)`, which sum to one; None: all alike."""
    count = int(np.prod(shape))
    if prior is None:
        return np.full(count, -np.log(count))
    masses = finite_array("prior", prior)
    if masses.shape not in (shape, (count,)):
        rule = f"must have shape {shape}, or ({count},): one mass for each point"
        raise InvalidArgument("prior", rule, f"shape {masses.shape}")
    if (masses < 0).any():
        raise InvalidArgument("prior", "must not be negative", float(masses.min()))
    largest = masses.max()
    if largest == 0:
        raise InvalidArgument("prior", "must have mass at some point of the grid", "zeros only")
    relative = masses.ravel() / largest  # first: a sum of huge masses may overflow
    with np.errstate(divide="ignore"):
        return np.log(relative) - np.log(relative.sum())


def log_density(prior: Any, theta: Array) -> Array:
    """ln p(theta) at every theta `(s, q)`, in nats: `(s,)`; -inf where there is no mass.

    >>> log_density(Gaussian([0.0, 1.0], np.eye(2)), np.array([[0.0, 1.0]])).round(4)
    array([-1.8379])
    """
    if isinstance(prior, Gaussian):
        return _gaussian(prior, theta)
    method: Callable[..., Any] | None = None
    for name in ("log_density", "logpdf"):
        method = method or getattr(prior, name, None)
    if method is None and not callable(prior):
        raise InvalidArgument("prior", ACCEPTED, prior)
    with np.errstate(divide="ignore", under="ignore"):
        if method is not None:
            values = real_array("prior", method(theta))
        else:
            given: Any = prior
            density = real_array("prior", given(theta))
            if (density < 0).any():
                rule = "must be a density, not its logarithm: no value may be negative"
                raise InvalidArgument("prior", rule, float(density.min()))
            values = np.log(density)
    if len(theta) == 1 and values.ndim == 0:
        values = values[None]
    if values.shape != (len(theta),):
        rule = f"must give one value for each of {len(theta)} parameter values"
        raise InvalidArgument("prior", rule, f"shape {values.shape}")
    bad = np.isnan(values) | np.isposinf(values)
    if bad.any():
        where = int(np.argmax(bad))
        shown = f"{values[where]} at theta = {theta[where].tolist()}"
        raise InvalidArgument("prior", "must have a finite density", shown)
    return values


def required_dim(prior: Any, count: int | None) -> None:
    """Refuse a Gaussian of another number of parameters."""
    if isinstance(prior, Gaussian) and count is not None and prior.dim != count:
        raise InvalidArgument("prior", f"must be a law of {count} parameters", prior)


def prior_draws(prior: Any, count: int, rng: np.random.Generator) -> Array:
    """Draws of the parameters, `(count, q)`; those of a Gaussian as a scrambled Sobol net."""
    if isinstance(prior, Gaussian):
        deviations, root = _scaled_root(prior)
        return prior.mean + deviations * (scrambled_normals(count, prior.dim, rng) @ root.T)
    if hasattr(prior, "sample"):
        found = prior.sample(count, rng=rng)
    elif hasattr(prior, "rvs"):
        found = prior.rvs(count, random_state=rng)
    else:
        rule = "must be a Gaussian, or have sample(count, rng=) or rvs(count, random_state=)"
        raise InvalidArgument("prior", rule, prior)
    draws = finite_array("prior", found, ndim=(1, 2))
    draws = np.array(draws[:, None] if draws.ndim == 1 else draws)
    if len(draws) != count:
        raise InvalidArgument("prior", f"must give {count} draws", f"shape {draws.shape}")
    return draws


def _scaled_root(prior: Gaussian) -> tuple[Array, Array]:
    """The deviations `(q,)` and a root of the correlations `(q, q)`, which must be regular."""
    count = prior.dim
    covariance = np.reshape(np.asarray(prior.covariance, dtype=np.float64), (count, count))
    deviations = np.sqrt(np.diag(covariance))
    if not (deviations > 0).all():
        raise InvalidArgument("prior", "must have a density: no variance may be zero", prior)
    try:  # in units of the deviations, so that scales of any size are no rank deficiency
        root: Any = np.linalg.cholesky(covariance / np.outer(deviations, deviations))
        return deviations, root
    except np.linalg.LinAlgError:
        raise InvalidArgument("prior", "must have a density: singular covariance", prior) from None


def _gaussian(prior: Gaussian, theta: Array) -> Array:
    count = theta.shape[1]
    required_dim(prior, count)
    deviations, root = _scaled_root(prior)
    z = np.linalg.solve(root, ((theta - np.asarray(prior.mean)) / deviations).T)
    scale = float(np.log(np.diag(root)).sum() + np.log(deviations).sum())
    return -0.5 * np.square(z).sum(axis=0) - scale - count * HALF_LOG_TWO_PI


def require_prior(prior: Any, count: int | None) -> None:
    """Refuse a prior that is not a Gaussian of that many parameters."""
    if not isinstance(prior, Gaussian):
        raise InvalidArgument("prior", "must be a Gaussian(mean, covariance)", prior)
    if count is not None and prior.dim != count:
        raise InvalidArgument("prior", f"must have dimension {count}, as the encoder", prior.dim)
    try:
        np.linalg.cholesky(np.atleast_2d(prior.covariance))
    except np.linalg.LinAlgError:
        raise InvalidArgument("prior", "must have a positive definite covariance", prior) from None
