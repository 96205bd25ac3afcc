"""EPIG: information about predictions at targets instead of about the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from apm._inputs import as_matrix
from apm.belief import Belief
from apm.selectors.base import Selector
from apm.selectors.draws import inputs_at, parameter_draws
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.channels import Logistic
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool

CHUNK_ENTRIES = 1 << 20  # joint label probabilities at a time: eight mebibytes


@dataclass(frozen=True)
class EPIG(Selector):
    """Expected predictive information gain `E_x*[I(Y; Y* | x, x*)]` in bits (Smith et al., 2023).

    The joint law of the two labels, `p(y, y*) = E_theta p(y | x) p(y* | x*)`, is an average over
    `samples` posterior draws. `targets` `(t, d)` are the inputs whose labels matter; None draws
    `num_targets` rows of the pool at each call.

    >>> from apm import Belief, VariationalLogistic
    >>> EPIG(num_targets=2).scores(Belief(VariationalLogistic(1.0)), [[0.0], [3.0]], rng=0).shape
    (2,)
    """

    samples: int = 100
    num_targets: int = field(default=100, kw_only=True)
    targets: Any = field(default=None, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        integer("samples", self.samples, least=2)
        integer("num_targets", self.num_targets, least=1)
        if self.targets is not None:
            object.__setattr__(self, "targets", as_matrix(self.targets, "targets"))

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        matrix, generator = as_matrix(X), as_generator(rng)
        belief = belief.sized(matrix)
        if self.targets is None:
            count = min(self.num_targets, len(matrix))
            targets = matrix[generator.choice(len(matrix), size=count, replace=False)]
        else:
            targets = self.targets
            if targets.shape[1] != matrix.shape[1]:
                rule = f"must have {matrix.shape[1]} columns, as the pool has"
                raise InvalidArgument("targets", rule, f"shape {targets.shape}")
        probe = belief.push(matrix[:1])
        theta = None
        if not isinstance(probe, EmpiricalPool):
            theta = parameter_draws(belief, self.samples, generator)
        if type(belief.channel) is Logistic and theta is not None:
            return _logistic(belief, matrix, targets, theta)
        there = _probabilities(belief, targets, theta)
        width = there.shape[0] * there.shape[1] * belief.channel.num_outputs
        rows = max(1, CHUNK_ENTRIES // max(width, there.shape[2] * belief.channel.num_outputs))
        pieces = [
            _mutual(_probabilities(belief, matrix[start : start + rows], theta), there)
            for start in range(0, len(matrix), rows)
        ]
        return np.concatenate(pieces)


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


def _probabilities(belief: Belief, X: Any, theta: Array | None) -> Array:
    """p(y | x, theta_s) as `(n, K, s)`."""
    if theta is None:
        inputs = belief.push(X).samples  # type: ignore[attr-defined]
    else:
        inputs = inputs_at(belief, X, theta)
    return np.ascontiguousarray(np.swapaxes(belief.channel.prob(inputs), 1, 2))


def _mutual(here: Array, there: Array) -> Array:
    """The mean over targets of I(Y; Y*) in bits, from `(n, K, s)` and `(t, K, s)`; shape `(n,)`."""
    n, labels, samples = here.shape
    joint = here.reshape(-1, samples) @ there.reshape(-1, samples).T / samples
    joint = joint.reshape(n, labels, len(there), labels)
    first, second = here.mean(axis=2), there.mean(axis=2)
    product = first[:, :, None, None] * second[None, None, :, :]
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        terms = joint * np.log(joint / product)
    terms = np.where(joint > 0, terms, 0.0)
    return np.maximum(terms.sum(axis=(1, 3)).mean(axis=1), 0.0) / LOG_TWO
