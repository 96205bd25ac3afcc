"""Whether the posterior of a file follows from the journal beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from apm.pools.inputs import as_dense
from apm.posteriors import Draws, Grid, Inputs
from apm.posteriors.base import Posterior
from channelcode.errors import InvalidArgument
from channelcode.measures import GaussianPool, ScalarPool

if TYPE_CHECKING:
    from apm.archive.learner_file import Saved

REPLAY_RTOL = 1e-6  # of the deviations; fixed points are solved to 1e-8 and better
PROBES = 64  # rows of the pool at which a replayed posterior is compared


def check_replay(saved: Saved) -> None:
    """Refuse a posterior that is not the one of the journal: its data, and the solution for them.

    The solution is compared where it is determined by the data, at some rows of the pool: for
    Gaussian posteriors. Draws are not repeated.
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
    _compare(posterior, again, as_dense(saved.features[spread]).astype(np.float64))


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


def _compare(stored: Posterior, again: Posterior, features: Any) -> None:
    found, expected = (p.pool(p.project(features)) for p in (stored, again))
    if isinstance(expected, ScalarPool) and isinstance(found, ScalarPool):
        scale = np.sqrt(expected.variance)
        same = close(found.mean, expected.mean, scale + np.abs(expected.mean))
        same = same and close(found.variance, expected.variance, expected.variance)
    elif isinstance(expected, GaussianPool) and isinstance(found, GaussianPool):
        spread = np.trace(np.asarray(expected.covariance), axis1=-2, axis2=-1)
        scale = np.sqrt(spread)[:, None] + np.abs(expected.mean)
        same = close(found.mean, expected.mean, scale)
        wide = spread[:, None, None]
        same = same and close(found.covariance, expected.covariance, wide)
    elif isinstance(stored, Inputs | Draws | Grid):
        # weights follow from the labels; draws of other posteriors are not repeated
        expected_weights = again.weights  # type: ignore[attr-defined]
        same = close(stored.weights, expected_weights, expected_weights)
    else:
        return
    if not same:
        raise InvalidArgument("posterior", "must follow from the journal", "another")


def close(found: Any, expected: Any, scale: Any, rtol: float = REPLAY_RTOL) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return False
    return bool(np.all(np.abs(found - expected) <= rtol * scale))
