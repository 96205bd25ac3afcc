"""Beliefs that tests start from: moments of the test's own choice, fitted classes, drawn labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.posteriors import Laplace
from apm.posteriors.base import Posterior
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._validation import Array
from channelcode.channels import Channel, Logistic, Softmax
from channelcode.measures import EmpiricalPool


class Solution(NamedTuple):
    """What a batch replaces: the factor of the covariance."""

    factor: Array


class Given(ScalarGaussian):
    """N(mean, covariance) on the line, whatever the data; `map` defaults to the mean."""

    __slots__ = ("_channel", "_map", "_mean")

    def __init__(
        self,
        mean: ArrayLike,
        covariance: ArrayLike,
        *,
        map: ArrayLike | None = None,
        channel: Channel | None = None,
    ) -> None:
        centre = np.array(mean, dtype=np.float64)
        values, vectors = np.linalg.eigh(np.array(covariance, dtype=np.float64))
        self._set(
            _channel=Logistic() if channel is None else channel,
            _mean=centre,
            _map=centre if map is None else np.array(map),
        )
        super().__init__(1.0)
        self._set(
            _num_features=len(centre),
            _design=np.empty((0, len(centre))),
            _solution=Solution(vectors * np.sqrt(np.maximum(values, 0.0))),
        )

    @property
    def num_labels(self) -> int:
        return self._channel.num_outputs

    @property
    def channel(self) -> Any:
        return self._channel

    @property
    def mean(self) -> Array:
        return self._mean

    @property
    def map(self) -> Array:
        return self._map

    @property
    def _root(self) -> Array:
        return self._solution.factor

    def _solve(self, start: Posterior | None, fresh: int) -> Any:
        return self._solution

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {"factor": self.factor}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Any:
        return Solution(state["factor"])


def given_belief(mean: ArrayLike, covariance: ArrayLike, **options: Any) -> Belief:
    """The belief with that posterior and the identity encoder."""
    return Belief(Given(mean, covariance, **options))


def three_classes() -> tuple[Belief, np.ndarray]:
    """A softmax belief after nine labels, and a pool of twelve examples `(12, 2)`."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12, 2))
    return Belief(Laplace(Softmax(3), 0.5).fit(X[:9], np.arange(9) % 3)), X


def entropy_bits(p: ArrayLike) -> float:
    """The entropy of a law in bits, by scipy."""
    from scipy.stats import entropy

    return float(entropy(p, base=2))


def drawn(
    channel: Channel, n: int = 25, p: int = 2, seed: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Random features `(n, p)` and labels that the channel itself gave them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    theta = rng.standard_normal((channel.dim, p))
    l = X @ theta.T
    return X, channel.sample(l[:, 0] if channel.dim == 1 else l, rng=rng)


class GivenSamples(Posterior):
    """A law of theta by weighted samples: `(s, q)` on the line, `(s, k, q)` through a softmax."""

    __slots__ = ("_masses", "_theta")
    _theta: Array
    _masses: Array

    def __init__(self, theta: ArrayLike, weights: ArrayLike) -> None:
        values = np.array(theta, dtype=np.float64)
        masses = np.array(weights, dtype=np.float64)
        self._set(_theta=values, _masses=masses / masses.sum())
        super().__init__(1.0)
        self._set(_num_features=values.shape[-1], _design=np.empty((0, values.shape[-1])))

    @property
    def num_labels(self) -> int:
        return 2 if self._theta.ndim == 2 else self._theta.shape[1]

    @property
    def dim(self) -> int:
        return 1 if self._theta.ndim == 2 else self._theta.shape[1]

    @property
    def channel(self) -> Any:
        return Logistic() if self._theta.ndim == 2 else Softmax(self._theta.shape[1])

    @property
    def mean(self) -> Array:
        return np.einsum("s,s...->...", self._masses, self._theta)

    @property
    def map(self) -> Array:
        return self.mean

    @property
    def covariance(self) -> Any:
        centred = (self._theta - self.mean).reshape(len(self._theta), -1)
        return np.einsum("s,si,sj->ij", self._masses, centred, centred)

    @property
    def summed_covariance(self) -> Array:
        centred = np.atleast_3d(self._theta - self.mean)
        if self._theta.ndim == 2:
            centred = np.moveaxis(centred, 2, 1)
        return np.einsum("s,ski,skj->ij", self._masses, centred, centred)

    def project(self, features: Any) -> tuple[Array, ...]:
        inputs = np.einsum("np,s...p->ns...", features, self._theta)
        if inputs.ndim == 3:  # a softmax does not see a common shift
            inputs = inputs - inputs.mean(axis=2, keepdims=True)
        return (inputs,)

    def pool(self, arrays: tuple[Array, ...]) -> Any:
        return EmpiricalPool(arrays[0], self._masses)

    def _solve(self, start: Posterior | None, fresh: int) -> Any:
        raise NotImplementedError

    def _solution_state(self) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Any:
        raise NotImplementedError
