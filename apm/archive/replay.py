"""Whether the posterior of a file follows from the journal beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from apm.pools.inputs import as_dense
from apm.posteriors import Draws, Grid, Inputs, Particles, Thresholds
from apm.posteriors.base import Posterior
from apm.posteriors.samples.priors import log_density
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, GaussianPool, ScalarPool

if TYPE_CHECKING:
    from apm.archive.learner_file import Saved

REPLAY_RTOL = 1e-6  # of the deviations; fixed points are solved to 1e-8 and better
PROBES = 64  # rows of the pool at which a replayed posterior is compared
LEAST = -1e300  # stands for the logarithm of nothing
CHAIN = 36.0  # of the standard error of a mean: eight of them, for a chain of one in twenty


def check_replay(saved: Saved) -> None:
    """Refuse a posterior that is not the one of the journal: its data, and the solution for them.

    The solution is compared at some rows of the pool. Weights of given points follow from the
    labels, as Gaussians do. Draws that were made with the labels are the same again, or at least
    draws of the same law: the rounding of another machine may turn a step of a chain.
    """
    posterior, answers = saved.belief.posterior, saved.journal.answers
    rows = [answer.row for answer in answers.answers]
    for record in saved.journal.entries:
        if record.index >= len(saved.pool):
            raise InvalidArgument("journal", "must name rows of the pool", record.index)
    before = saved.initial.num_observations
    if posterior.num_observations != before + len(rows):
        held = f"{posterior.num_observations - before} labels, not {len(rows)}"
        raise InvalidArgument("posterior", "must have the labels of the journal", held)
    if posterior.num_features is None:
        return
    design = posterior.design[:, : posterior.num_features]
    told = as_dense(saved.features[rows]).astype(np.float64)
    values = posterior.labels.tolist()
    weights = [answer.weight for answer in answers.answers]
    same = (
        close(design[before:], told, np.abs(told))
        and values[before:] == [answer.label for answer in answers.answers]
        and posterior.sample_weight[before:].tolist() == weights
    )
    if not same:
        raise InvalidArgument("posterior", "must have the labels of the journal", "others")
    if posterior.num_observations:
        again = _same_evidence(posterior, posterior.fit(design, values, posterior.sample_weight))
    else:
        again = posterior.without_data().sized(posterior.num_features)
    spread = np.linspace(0, len(saved.pool) - 1, PROBES).astype(np.intp)
    same = _same_parts(posterior, again) and _same_laws(
        posterior, again, as_dense(saved.features[spread]).astype(np.float64)
    )
    if not same:
        raise InvalidArgument("posterior", "must follow from the journal", "another")


def check_schema(held: dict[str, np.ndarray], posterior: Posterior) -> None:
    """Refuse arrays that this posterior would not have written: names, types, what is no number.

    >>> from apm import VariationalLogistic
    >>> posterior = VariationalLogistic().sized(2)
    >>> check_schema(posterior.state(), posterior)
    >>> check_schema(posterior.state() | {"more": np.zeros(2)}, posterior)
    Traceback (most recent call last):
    channelcode.errors.InvalidArgument: posterior must have the arrays of its kind, got ['more']
    """
    strange = sorted(set(held) ^ set(posterior.state()))
    for name, array in held.items():
        kind = array.dtype.kind
        if name in ("classes", "given") or kind == "U":
            continue
        if array.dtype not in (np.float64, np.int64, np.bool_):
            strange.append(f"{name} of type {array.dtype}")
            continue
        allowed = array < np.inf if name.startswith("log_") else np.isfinite(array)
        if not allowed.all():
            strange.append(f"{name} with entries that are no numbers")
    if strange:
        raise InvalidArgument("posterior", "must have the arrays of its kind", strange)


def _same_evidence(stored: Any, again: Any) -> Any:
    """The repeated posterior at the precision of the file, if that is as good as its own.

    Where the evidence is flat, rounding moves the best precision by more than it moves anything
    else.
    """
    if stored.evidence is None:
        return again
    best, held = again.log_evidence, again.with_precision(stored.prior_precision)
    if not abs(best - held.log_evidence) <= REPLAY_RTOL * (1.0 + abs(best)):
        raise InvalidArgument(
            "posterior", "must have the prior precision of its labels", stored.prior_precision
        )
    return held


def _same_parts(stored: Posterior, again: Posterior) -> bool:
    """Whether arrays have as many axes as they should, and a maximum that is kept is one."""
    ours, theirs = stored.state(), again.state()
    if any(np.ndim(ours[name]) != np.ndim(theirs[name]) for name in set(ours) & set(theirs)):
        return False
    if stored.has_classes and len(set(stored.classes_.tolist())) != len(again.classes_):
        return False
    if not close(stored.design, again.design, np.abs(again.design)):  # with its constant
        return False
    if "map_start" not in ours and "u" not in ours:  # no maximum in the file, or a start for one
        return True
    kept, peak = np.asarray(stored.map), np.asarray(again.map)
    scale = np.linalg.norm(peak) + 1.0 / np.sqrt(stored.prior_precision)
    return kept.shape == peak.shape and bool(np.linalg.norm(kept - peak) <= REPLAY_RTOL * scale)


def _same_laws(stored: Any, again: Any, features: Any) -> bool:
    """Whether the laws of the channel input at these rows are the same."""
    found, expected = (p.pool(p.project(features)) for p in (stored, again))
    if isinstance(expected, ScalarPool) and isinstance(found, ScalarPool):
        scale = np.sqrt(expected.variance)
        same = close(found.mean, expected.mean, scale + np.abs(expected.mean))
        return same and close(found.variance, expected.variance, expected.variance)
    if isinstance(expected, GaussianPool) and isinstance(found, GaussianPool):
        spread = np.trace(np.asarray(expected.covariance), axis1=-2, axis2=-1)
        scale = np.sqrt(spread)[:, None] + np.abs(expected.mean)
        same = close(found.mean, expected.mean, scale)
        wide = spread[:, None, None]
        return same and close(found.covariance, expected.covariance, wide)
    if isinstance(stored, Inputs | Draws | Grid | Thresholds):  # the points are given
        return close(stored.weights, again.weights, again.weights)
    if isinstance(stored, Particles) and not _own_densities(stored):
        return False
    return _same_draws(found, expected)


def _own_densities(stored: Particles) -> bool:
    """Whether the densities kept beside the draws are those of the draws."""
    state = stored.state()
    data = stored.design, stored.codes, stored.sample_weight
    prior, likelihood = log_density(stored.prior, stored.theta), 0.0
    if len(stored.codes):
        likelihood = stored.log_likelihood(stored.theta, *data)
    kept = state["log_prior"], state["log_likelihood"]
    return len(kept[0]) == len(kept[1]) == len(stored.theta) and all(
        close(np.maximum(held, LEAST), np.maximum(value, LEAST), 1.0 + np.abs(value))
        for held, value in zip(kept, (prior, likelihood))
    )


def _same_draws(found: Any, expected: Any) -> bool:
    """Whether two pools of draws are the same, or may be draws of the same laws."""
    if not (isinstance(found, EmpiricalPool) and isinstance(expected, EmpiricalPool)):
        return False
    ours, theirs = np.asarray(found.samples), np.asarray(expected.samples)
    if ours.shape != theirs.shape:
        return False
    deviation = np.sqrt(expected.total_variance)
    size = deviation.reshape(-1, *[1] * (theirs.ndim - 1))
    if close(ours, theirs, size + np.abs(theirs)):
        return close(found.weights, expected.weights, expected.weights)
    share = sum(float(np.square(pool.weights).sum()) for pool in (found, expected))
    apart = np.atleast_2d((found.mean - expected.mean).T)
    error = CHAIN * np.sqrt(share)  # standard errors of the difference, in deviations
    near = np.linalg.norm(apart, axis=0) <= error * deviation
    wide = np.sqrt(found.total_variance) <= (1.0 + error) * deviation
    return bool(near.all() and wide.all())


def close(found: Any, expected: Any, scale: Any, rtol: float = REPLAY_RTOL) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return False
    return bool(np.all(np.abs(found - expected) <= rtol * scale))
