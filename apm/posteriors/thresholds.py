"""The exact posterior of a threshold on the line, from noisy answers to "is it above x?"."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from apm.pools.inputs import Matrix
from apm.posteriors.base import Posterior
from channelcode._validation import Array, finite_array, number, positive, read_only
from channelcode.channels import Logistic
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Pool


class Solution(NamedTuple):
    """The log-probabilities of the thresholds, `(s,)`, in nats."""

    log_weights: Array


class Thresholds(Posterior):
    """A threshold theta among given values, all alike at first; exact, whatever the answers.

    The encoder is a step: the channel input of the query x is `l = amplitude * sign(theta - x)`, so
    that the answer "theta is above x" is right with probability sigma(amplitude). Learning theta
    is then Horstein's scheme, and the median is the query of posterior matching (theory of
    feedback, section 7).

    - `values` `(s,)`: the possible thresholds, distinct; `between(queries)` takes one in each gap
      of a pool, which no query of the pool can tell from others in that gap;
    - `amplitude`: sqrt(P); `noisy(values, crossover)` sets it by the share of wrong answers.

    >>> belief = Thresholds.noisy([0.5, 1.5, 2.5, 3.5], 0.1).update([2.0], 1)
    >>> belief.weights.round(3)
    array([0.05, 0.05, 0.45, 0.45])
    """

    __slots__ = ("_amplitude", "_values")
    _values: Array
    _amplitude: float

    def __init__(
        self, values: ArrayLike, *, amplitude: float = 2.0, classes: ArrayLike | None = None
    ) -> None:
        places = np.sort(finite_array("values", values, ndim=1))
        if len(places) < 2 or (np.diff(places) <= 0).any():
            raise InvalidArgument("values", "must be two or more distinct thresholds", values)
        self._set(_values=read_only(places), _amplitude=positive("amplitude", amplitude))
        super().__init__(1.0, classes=classes)

    @classmethod
    def between(cls, queries: ArrayLike, **options: Any) -> Self:
        """One threshold in each gap between the queries, and one beyond each end.

        >>> Thresholds.between([3.0, 1.0]).values
        array([0., 2., 4.])
        """
        places = np.unique(finite_array("queries", np.ravel(np.asarray(queries))))
        reach = np.diff(places).min() if len(places) > 1 else 2.0
        ends = places[0] - reach / 2, places[-1] + reach / 2
        return cls(
            np.concatenate(([ends[0]], (places[1:] + places[:-1]) / 2, [ends[1]])), **options
        )

    @classmethod
    def noisy(cls, values: ArrayLike, crossover: float, **options: Any) -> Self:
        """Thresholds whose answers are wrong with probability `crossover` in (0, 1/2)."""
        wrong = number("crossover", crossover)
        if not 0.0 < wrong < 0.5:
            raise InvalidArgument("crossover", "must lie between 0 and 1/2", crossover)
        return cls(values, amplitude=float(np.log((1 - wrong) / wrong)), **options)

    @property
    def channel(self) -> Logistic:
        return Logistic()

    @property
    def values(self) -> Array:
        """The possible thresholds, increasing, `(s,)`."""
        return self._values

    @property
    def amplitude(self) -> float:
        """sqrt(P): answers are right with probability sigma(amplitude)."""
        return self._amplitude

    @property
    def weights(self) -> Array:
        """The probability of each threshold, `(s,)`."""
        if self._solution is None:
            return np.full(len(self._values), 1.0 / len(self._values))
        with np.errstate(under="ignore"):
            return np.exp(self._solution.log_weights)

    @property
    def mean(self) -> Array:
        """The mean threshold, `(1,)`."""
        return np.array([self.weights @ self._values])

    @property
    def median(self) -> float:
        """The least threshold at which the posterior's distribution function reaches one half."""
        reached = np.cumsum(self.weights) >= 0.5 - 1e-12  # sums of equal parts fall short
        return float(self._values[int(np.argmax(reached))])

    @property
    def covariance(self) -> Array:
        """The variance of the threshold, `(1, 1)`."""
        return np.array([[self.weights @ np.square(self._values - self.mean[0])]])

    @property
    def summed_covariance(self) -> Array:
        """The variance of l at most, `(1, 1)`: amplitude squared, whatever the query."""
        return np.array([[self._amplitude**2]])

    @property
    def map(self) -> Array:
        """The most probable threshold, `(1,)`."""
        return self._values[[int(np.argmax(self.weights))]]

    def mean_inputs(self, features: Any) -> Any:
        return self.project(np.asarray(features))[0] @ self.weights

    def project(self, features: Matrix) -> tuple[Array, ...]:
        """l of every query and threshold, `(n, s)`; a query at a threshold counts as below it."""
        self.require_features(features.shape[1])
        above = self._values >= np.asarray(features, dtype=np.float64)
        return (np.where(above, self._amplitude, -self._amplitude),)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays, weights=self.weights)

    def require_features(self, count: int) -> None:
        if count != 1:
            raise InvalidArgument("X", "must have one column, the query", count)

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        if len(self.design) == 0:
            return Solution(read_only(np.full(len(self._values), -np.log(len(self._values)))))
        inputs = self.project(self.design)[0]  # (n, s)
        logs = self.channel.log_prob(inputs)  # (n, s, 2)
        told = np.take_along_axis(logs, self._codes[:, None, None], axis=2)[..., 0]
        total = self._weights @ told
        mass: Any = logsumexp(total)
        return Solution(read_only(total - mass))

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {"log_weights": self._solution.log_weights}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        return Solution(read_only(state["log_weights"]))

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"values": self._values, "amplitude": np.array(self._amplitude)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        return {
            "values": state["values"],
            "amplitude": float(state["amplitude"]),
            "classes": state.get("given"),
        }
