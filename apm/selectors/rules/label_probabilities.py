"""The label's law as the K-class selectors see it: at one theta, or averaged over the posterior."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.selectors.base import Selector
from apm.selectors.class_draws import PIECE, class_major, class_probabilities
from apm.selectors.draws import (
    by_draws,
    drawn_inputs,
    gives_samples,
    parameter_draws,
    point_inputs,
)
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.channels import Softmax
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class LabelSelector(Selector):
    """A selector that reads only the probabilities of the labels, `(n, K)`.

    `bayesian=False` takes them at the most probable theta (the usual form); `bayesian=True`
    averages over the posterior: by integration, or over `samples` draws of theta that all
    candidates share. A posterior that is known by its samples has them already.
    """

    bayesian: bool = False
    samples: int | None = field(default=None, kw_only=True)
    by_row = True
    resolution = 1e-10  # predictive probabilities are integrals good to about 1e-11

    def __post_init__(self) -> None:
        if self.samples is not None:
            integer("samples", self.samples, least=2)
            if not self.bayesian:
                raise InvalidArgument("samples", "must be None unless bayesian=True", self.samples)

    def probabilities(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        """p(y | x) for every row of X, `(n, K)`."""
        belief.require_classes()
        if not self.bayesian:
            return belief.channel.prob(point_inputs(belief, X))
        if self.samples is None or gives_samples(belief, X):
            return belief.output_proba(X)
        matrix, generator = belief.matrix(X), as_generator(rng)
        belief = by_draws(belief.sized(matrix), self.samples, generator)
        if belief.posterior.gives_samples:
            return belief.output_proba(matrix)
        if type(belief.channel) is Softmax:
            theta = class_major(parameter_draws(belief, self.samples, generator))
            rows = max(1, PIECE // (len(theta) * self.samples))
            pieces = [
                class_probabilities(belief, matrix[start : start + rows], theta).mean(axis=2).T
                for start in range(0, len(matrix), rows)
            ]
            return np.concatenate(pieces)
        drawn = drawn_inputs(belief, matrix, self.samples, generator)
        return np.concatenate([belief.channel.prob(inputs).mean(axis=1) for inputs in drawn])
