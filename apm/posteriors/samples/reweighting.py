"""Weighted samples under new labels: their weights, how many still count, and batches.

A posterior that is known by samples theta_s with weights w_s learns by reweighting,

    ln w_s <- ln w_s + sum_i ln p(y_i | l_is),      ESS = 1 / sum_s w_s^2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from channelcode._validation import Array, finite_array, read_only
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument, warn_caller

CHUNK_ENTRIES = 1 << 19  # four mebibytes of float64 in each temporary
FEW = 1.5  # samples: fewer than two of them carry a law
FEW_SHARE = 0.05  # or this part of all samples


class CollapsedWeights(UserWarning):
    """Nearly all of the weight lies on a few samples: what they say of spread is no longer true."""


def log_masses(weights: ArrayLike | None, size: int) -> Array:
    """Logarithms of weights `(s,)` that sum to one, `-inf` for a weight of zero; None is equal.

    >>> np.exp(log_masses([3, 0, 1], 3)).tolist()
    [0.75, 0.0, 0.25]
    """
    if weights is None:
        return read_only(np.full(size, -np.log(size)))
    given = finite_array("weights", weights, ndim=1)
    if len(given) != size:
        rule = f"must have one entry for each of {size} samples"
        raise InvalidArgument("weights", rule, len(given))
    if (given < 0).any():
        raise InvalidArgument("weights", "must be non-negative", float(given.min()))
    if not given.any():
        raise InvalidArgument("weights", "must not all be zero", "a sum of 0.0")
    with np.errstate(divide="ignore"):
        logs = np.log(given)
    return read_only(normalised(logs)[0])


def normalised(logs: Array) -> tuple[Array, float]:
    """Log weights less the logarithm of their sum, and that logarithm (`-inf` if all are zero)."""
    total: Any = logsumexp(logs)
    return (logs - total if np.isfinite(total) else logs), float(total)


def label_log_likelihoods(channel: Channel, inputs: Array, codes: Any, weights: Array) -> Array:
    """sum_i weight_i ln p(y_i | l_is) for l `(n, s)` or `(n, s, k)`: `(s,)`.

    A label of weight zero says nothing, whatever its probability.
    """
    size = inputs.shape[1]
    total = np.zeros(size)
    counts = np.flatnonzero(weights > 0)
    rows = max(1, CHUNK_ENTRIES // (size * channel.num_outputs))
    for start in range(0, len(counts), rows):
        part = counts[start : start + rows]
        logs = channel.log_prob(inputs[part])
        told = np.take_along_axis(logs, codes[part][:, None, None], axis=2)[..., 0]
        total += (weights[part, None] * told).sum(axis=0)
    return total


def effective_size(log_weights: Array) -> float:
    """ESS = 1 / sum w^2 of normalised weights.

    >>> round(effective_size(np.log([0.5, 0.25, 0.25])), 4)
    2.6667
    """
    doubled: Any = logsumexp(2.0 * log_weights)
    return float(np.exp(-doubled))


def is_collapsed(log_weights: Array) -> bool:
    """Whether too few samples are left to speak of a law: fewer than 1.5, or a twentieth."""
    size = len(log_weights)
    return size > 1 and effective_size(log_weights) < max(FEW, FEW_SHARE * size)


def warn_if_collapsed(before: Array, after: Array) -> None:
    """Warn where labels took the last weight from all but a few samples (once, as it happens)."""
    if is_collapsed(after) and not is_collapsed(before):
        warn_caller(
            f"the labels leave {effective_size(after):.1f} of {len(after)} samples (ESS): draw new "
            "samples from the posterior of all labels, for instance by retraining the ensemble",
            CollapsedWeights,
        )


class Reweighted(NamedTuple):
    """What the labels say of each sample: ln w_s, ln p(labels | sample s), ln p(labels)."""

    log_weights: Array
    log_likelihood: Array
    log_evidence: float


def reweighted(
    posterior: Any,
    log_prior: Array,
    held: Reweighted | None,
    fresh: int,
    told: Callable[[int], Array],
) -> Reweighted:
    """The weights after the labels that a posterior now holds.

    `held` are those before the last `fresh` labels, or None; `told(first)` are the log-likelihoods
    `(s,)` of the labels from `first` on. A set of labels that no sample can explain is refused.
    """
    count = posterior.num_observations
    first = 0 if held is None or fresh >= count else count - fresh
    likelihood = told(first)
    if held is not None and first:
        likelihood = held.log_likelihood + likelihood
    log_weights, evidence = normalised(log_prior + likelihood)
    if not np.isfinite(evidence):
        labels = posterior.classes_[posterior.codes[first:]].tolist()
        rule = "must be possible under at least one sample"
        raise InvalidArgument("y", rule, labels[0] if len(labels) == 1 else labels)
    if count:
        warn_if_collapsed(
            held.log_weights if held is not None and first else log_prior, log_weights
        )
    return Reweighted(read_only(log_weights), read_only(likelihood), evidence)


class ReweightsSamples:
    """What posteriors share whose labels change the weights of samples and nothing else."""

    __slots__ = ()
    _solution: Any

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(value) for name, value in self._solution._asdict().items()}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Reweighted:
        logs, likelihood = read_only(state["log_weights"]), read_only(state["log_likelihood"])
        return Reweighted(logs, likelihood, float(state["log_evidence"]))


class Pending(NamedTuple):
    """A candidate that was asked and not answered yet, as it moves all samples of l.

    Before its label a pick leaves the mean where it is and takes from the covariance of any other
    input z what its expected precision W would: with D the deviations of the pick `(s, k)` and C
    for weighted covariances,

        l_z <- l_z - D G C_xz,    G = W^1/2 f(M) W^1/2,   M = W^1/2 C_xx W^1/2,
        f(m) = (1 - 1 / sqrt(1 + m)) / m,

    so that C_zz loses C_zx W^1/2 (1 + M)^-1 W^1/2 C_xz: the update of a Gaussian, on samples.
    """

    deviations: Array
    gain: Array
    weights: Array

    @classmethod
    def of(cls, inputs: Array, weights: Array, precision: Any) -> Pending:
        """The pick with samples `inputs` `(s,)` or `(s, k)` and the expected precision W."""
        deviations = inputs.reshape(len(inputs), -1)
        deviations = deviations - weights @ deviations
        spread = (deviations.T * weights) @ deviations
        values, vectors = np.linalg.eigh(np.atleast_2d(np.asarray(precision, dtype=np.float64)))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        values, vectors = np.linalg.eigh(root @ spread @ root)
        m = np.maximum(values, 0.0)
        shrink = 1.0 / (np.sqrt(1.0 + m) * (1.0 + np.sqrt(1.0 + m)))  # f without cancellation
        gain = root @ ((vectors * shrink) @ vectors.T) @ root
        return cls(deviations, gain, weights)

    def moved(self, inputs: Array) -> Array:
        """Samples of other candidates, `(n, s)` or `(n, s, k)`, once this one was asked."""
        flat = inputs.reshape(*inputs.shape[:2], -1)
        weighted = self.deviations * self.weights[:, None]
        cross = np.einsum("sj,nsk->njk", weighted, flat, optimize=True)
        change = np.einsum("sj,njk->nsk", self.deviations @ self.gain, cross, optimize=True)
        return (flat - change).reshape(inputs.shape)
