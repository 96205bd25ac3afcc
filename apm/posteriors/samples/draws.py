"""The user's own draws of the parameters: an MCMC run, an ensemble's weights, a bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder
from apm.posteriors.base import Posterior
from apm.posteriors.samples.reweighting import (
    Reweighted,
    ReweightsSamples,
    log_masses,
    reweighted,
)
from apm.posteriors.samples.weighted import WeightedSamples
from channelcode._validation import Array, finite_array, read_only
from channelcode.channels import Channel, Logistic
from channelcode.errors import InvalidArgument


class Draws(ReweightsSamples, WeightedSamples):
    """Draws theta_s of the parameters with weights w_s, made elsewhere, as the prior of a learner.

    - `theta` `(s, q)`: one row for each draw. For a linear encoder and a channel input in R^k it
      may be `(s, k, p)`, or flat `(s, k p)`, one class after the other;
    - `weights` `(s,)`: not negative; None counts all draws alike;
    - `channel`: `Logistic()` unless given; `encoder`: `Linear()` unless given.

    A label reweights the draws, `w_s <- w_s p(y | h(theta_s, x))`; they do not move. `ess` says how
    many still count, and a warning (`CollapsedWeights`) when they have become too few.

    >>> posterior = Draws([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [2, 1, 1])
    >>> told = posterior.update([3.0, 0.0], 1)
    >>> told.weights.round(3), round(told.ess, 2)
    (array([0.777, 0.204, 0.019]), 1.55)
    """

    __slots__ = ("_log_prior", "_prior_weights", "_theta")
    _theta: Array
    _prior_weights: Array
    _log_prior: Array

    linear = False

    def __init__(
        self,
        theta: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        channel: Channel | None = None,
        encoder: Encoder | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        draws = finite_array("theta", theta, ndim=(2, 3))
        channel = Logistic() if channel is None else channel
        super().__init__(channel, encoder, classes=classes)
        if draws.ndim == 3:
            if not self.encoder.is_linear or draws.shape[1] != self.dim or self.dim == 1:
                rule = "must have shape (s, q), or (s, k, p) for a linear encoder and input in R^k"
                raise InvalidArgument("theta", rule, f"shape {draws.shape}")
            draws = draws.reshape(len(draws), -1)
        known = self.encoder.num_parameters
        if known is not None and draws.shape[1] != known:
            rule = f"must have {known} entries for each draw, as the encoder takes"
            raise InvalidArgument("theta", rule, f"shape {draws.shape}")
        if known is None and draws.shape[1] % self.dim:
            rule = f"must have a multiple of {self.dim} entries for each draw"
            raise InvalidArgument("theta", rule, f"shape {draws.shape}")
        given = np.ones(len(draws)) if weights is None else np.asarray(weights)
        self._set(
            _theta=read_only(draws),
            _log_prior=log_masses(weights, len(draws)),
            _prior_weights=read_only(given),
        )

    @property
    def theta(self) -> Array:
        """The draws, `(s, q)`."""
        return self._theta

    @property
    def log_weights(self) -> Array:
        """ln w after the labels so far, `(s,)`; `-inf` for a draw that a label has ruled out."""
        return self._log_prior if self._solution is None else self._solution.log_weights

    @property
    def log_evidence(self) -> float:
        """ln p(labels) = ln sum_s w_s p(labels | theta_s), with the weights given, in nats."""
        return 0.0 if self._solution is None else self._solution.log_evidence

    def _solve(self, start: Posterior | None, fresh: int) -> Reweighted:
        def told(first: int) -> Array:
            part = slice(first, None)
            return self.log_likelihood(
                self._theta, self.design[part], self._codes[part], self._weights[part]
            )

        held = start._solution if isinstance(start, Draws) else None
        return reweighted(self, self._log_prior, held, fresh, told)

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"theta": self._theta, "prior_weights": self._prior_weights}

    @classmethod
    def _options(
        cls, state: dict[str, np.ndarray], channel: Any, encoder: Any = None
    ) -> dict[str, Any]:
        return {
            "theta": state["theta"],
            "weights": state["prior_weights"],
            "channel": channel,
            "encoder": encoder,
            "classes": state.get("given"),
        }
