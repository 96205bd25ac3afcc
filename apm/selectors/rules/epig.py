"""EPIG: information about predictions at targets instead of about the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from apm.belief import Belief
from apm.pools.inputs import as_matrix
from apm.selectors.base import Selector
from apm.selectors.class_draws import TINY, class_major, class_probabilities, entropies
from apm.selectors.draws import by_draws, gives_samples, inputs_at, parameter_draws
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.channels import Logistic
from channelcode.errors import InvalidArgument

CHUNK_ENTRIES = 1 << 20  # entries of the largest temporaries: eight mebibytes
LARGE = 1 << 20  # joint probabilities from which on they are computed in single precision
TINY_SINGLE = np.float32(1e-37)
SINGLE = 1e-6  # bits: what single precision leaves of a score


@dataclass(frozen=True)
class EPIG(Selector):
    """Expected predictive information gain `E_x*[I(Y; Y* | x, x*)]` in bits (Smith et al., 2023).

    The joint law of the two labels, `p(y, y*) = E_theta p(y | x) p(y* | x*)`, is an average over
    `samples` posterior draws; for a `LinearGaussian` it is Gaussian and the score in closed form,
    `E_x*[-1/2 log2(1 - r^2)]` with r the correlation of the two labels. `targets` `(t, d)` are the
    inputs whose labels matter; None draws `num_targets` rows of the pool at each call.

    >>> from apm import Belief, VariationalLogistic
    >>> EPIG(num_targets=2).scores(Belief(VariationalLogistic(1.0)), [[0.0], [3.0]], rng=0).shape
    (2,)
    """

    samples: int = 100
    num_targets: int = field(default=100, kw_only=True)
    targets: Any = field(default=None, kw_only=True, compare=False)
    by_row = True

    def __post_init__(self) -> None:
        integer("samples", self.samples, least=2)
        integer("num_targets", self.num_targets, least=1)
        if self.targets is not None:
            object.__setattr__(self, "targets", as_matrix(self.targets, "targets"))

    def surveyed(self, belief: Belief, X: Any, is_open: Any, rng: int) -> EPIG:
        return self.drawn(X, rng)

    def drawn(self, X: Any, rng: int) -> EPIG:
        """This rule with the targets of this selection drawn from the whole pool."""
        if self.targets is not None:
            return self
        count = min(self.num_targets, len(X))
        rows = as_generator(rng).choice(len(X), size=count, replace=False)
        return replace(self, targets=X[rows])

    def _resolution(self, belief: Belief, rows: int) -> float:
        if type(belief.channel) is Logistic or not belief.posterior.has_classes:
            return self.resolution
        targets = self.num_targets if self.targets is None else len(self.targets)
        large = _in_single(rows, belief.channel.num_outputs, min(targets, rows))
        return SINGLE if large else self.resolution

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        matrix, generator = belief.matrix(X), as_generator(rng)
        belief = by_draws(belief.sized(matrix), self.samples, generator)
        if self.targets is None:
            count = min(self.num_targets, len(matrix))
            targets = matrix[generator.choice(len(matrix), size=count, replace=False)]
        else:
            targets = self.targets
            if targets.shape[1] != matrix.shape[1]:
                rule = f"must have {matrix.shape[1]} columns, as the pool has"
                raise InvalidArgument("targets", rule, f"shape {targets.shape}")
        if not belief.posterior.has_classes:
            return _gaussian(belief, matrix, targets)
        if gives_samples(belief, matrix):
            return _joint(belief, matrix, targets, None)
        theta = parameter_draws(belief, self.samples, generator)
        if type(belief.channel) is Logistic:
            return _logistic(belief, matrix, targets, theta)
        return _joint(belief, matrix, targets, theta)


def _in_single(rows: int, classes: int, targets: int) -> bool:
    """Whether the joint laws of all candidates and targets are so many that speed counts."""
    return rows * targets * classes**2 > LARGE


def _logistic(belief: Belief, X: Any, targets: Any, theta: Array) -> Array:
    """The scores for the logistic channel, from the chances of a one alone; shape `(n,)`."""
    from apm._kernels.sampled_gain import binary_epig

    there = expit(inputs_at(belief, targets, theta))
    rows = max(1, CHUNK_ENTRIES // max(there.shape))
    pieces = []
    for start in range(0, len(X), rows):
        here = expit(inputs_at(belief, X[start : start + rows], theta))
        joint = here @ there.T / theta.shape[0]
        pieces.append(binary_epig(joint, here.mean(axis=1), there.mean(axis=1)))
    return np.concatenate(pieces) / LOG_TWO


def _gaussian(belief: Belief, X: Any, targets: Any) -> Array:
    """The mean over targets of the information between two Gaussian labels, in bits, `(n,)`."""
    posterior: Any = belief.posterior
    here, there = belief.encoder.encode(X), belief.encoder.encode(targets)
    noise = belief.channel.noise**2  # type: ignore[attr-defined]
    own, other = posterior.leverage(here) + noise, posterior.leverage(there) + noise
    rows = max(1, CHUNK_ENTRIES // len(targets))
    pieces = []
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        share = posterior.cross_leverage(here[part], there) / np.sqrt(own[part])[:, None]
        share /= np.sqrt(other)
        pieces.append(-0.5 * np.log1p(-np.square(share)).mean(axis=1))
    return np.concatenate(pieces) / LOG_TWO


def _joint(belief: Belief, X: Any, targets: Any, theta: Array | None) -> Array:
    """The scores from the joint law of the two labels under draws (None: the pool's own), `(n,)`.

    The mean over targets of `H(Y) + H(Y*) - H(Y, Y*)`, in bits.
    """
    draws = None if theta is None else class_major(theta.reshape(len(theta), -1, theta.shape[-1]))
    there, weights = _probabilities(belief, targets, draws)
    classes, count, samples = there.shape
    columns: Any = there.reshape(classes * count, samples).T * weights[:, None]
    # a large table in single precision: draws are good to two digits, single sums to 1e-6
    single = _in_single(len(X), classes, count)
    columns = np.ascontiguousarray(columns, dtype=np.float32 if single else np.float64)
    elsewhere = float(entropies(there, weights).mean())
    rows = max(1, CHUNK_ENTRIES // (classes * max(samples, classes * count)))
    pieces = []
    for start in range(0, len(X), rows):
        here, _ = _probabilities(belief, X[start : start + rows], draws)
        total = np.zeros(here.shape[1])
        for prob in here:  # one label of the candidate, all labels of all targets
            both = prob.astype(columns.dtype, copy=False) @ columns
            both += TINY_SINGLE if single else TINY
            total += np.vecdot(both, np.log(both))
        pieces.append(entropies(here, weights) + elsewhere + total / count)
    return np.maximum(np.concatenate(pieces), 0.0) / LOG_TWO  # I >= 0: what is below is rounding


def _probabilities(belief: Belief, X: Any, draws: Array | None) -> tuple[Array, Array]:
    """p(y | x, theta_s) as `(K, n, s)`, and the weights of the draws `(s,)`."""
    if draws is not None:
        prob = class_probabilities(belief, X, draws)
        return prob, np.full(prob.shape[2], 1.0 / prob.shape[2])
    laws: Any = belief.push(X)
    return np.ascontiguousarray(np.moveaxis(belief.channel.prob(laws.samples), 2, 0)), laws.weights
