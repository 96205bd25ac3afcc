"""The softmax posterior under Bohning's bound: one covariance, whatever the labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from apm._inputs import Matrix
from apm.posteriors.base import Posterior
from apm.posteriors.covariance import KroneckerCovariance
from apm.posteriors.laplace import project_classes, scalar_factor
from apm.posteriors.maximum import maximise
from channelcode._validation import Array, integer, read_only
from channelcode.channels import Softmax
from channelcode.measures import Pool


class Solution(NamedTuple):
    """The mean `(k, q)`, and the covariance."""

    mean: Array
    covariance: KroneckerCovariance
    steps: int


class Bohning(Posterior):
    """A Gaussian for K classes from the bound W_i <= (I - 11'/K) / 2 on the softmax Hessian.

    On the centred space the precision is I (x) (lambda I + X'SX / 2) (theory 5; Bohning, 1992): the
    covariance is Kronecker, does not depend on the labels, and is never wider than Laplace's. The
    bound is tightest when expanded at the mean, and then the mean is the MAP.

    >>> posterior = Bohning(3, 1.0).fit([[1.0], [0.0], [-1.0]], ["a", "b", "c"])
    >>> posterior.covariance.inner, posterior.covariance.outer.round(2).tolist()[0]
    (array([[0.5]]), [0.67, -0.33, -0.33])
    """

    __slots__ = ("_num_classes",)
    _num_classes: int

    def __init__(
        self,
        num_classes: int,
        prior_precision: float = 0.01,
        *,
        intercept: bool = False,
        intercept_precision: float | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        self._set(_num_classes=integer("num_classes", num_classes, least=2))
        self._begin(
            prior_precision,
            intercept=intercept,
            intercept_precision=intercept_precision,
            classes=classes,
        )

    @property
    def num_labels(self) -> int:
        return self._num_classes

    @property
    def dim(self) -> int:
        return self._num_classes

    @property
    def channel(self) -> Softmax:
        return Softmax(self._num_classes)

    @property
    def mean(self) -> Array:
        """The mean weights, `(k, q)`, centred: each column sums to zero."""
        self._known_design()
        return self._solution.mean

    @property
    def map(self) -> Array:
        return self.mean

    @property
    def covariance(self) -> KroneckerCovariance:
        self._known_design()
        return self._solution.covariance

    @property
    def summed_covariance(self) -> Array:
        return self.covariance.summed

    def project(self, features: Matrix) -> tuple[Array, ...]:
        return project_classes(self, self.mean, self.covariance, features)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return self.covariance.pool(*arrays)

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        before = start._solution.mean if isinstance(start, Bohning) else None
        found = maximise(
            self.channel,
            self.design,
            codes=self._codes,
            weights=self._weights,
            precision=self._precision,
            start=before,
        )
        k = self._num_classes
        mean = found.weights - found.weights.mean(axis=0)
        mean.setflags(write=False)
        factor = scalar_factor(0.5 * self._weights[:, None, None], self.design, self._precision)
        covariance = KroneckerCovariance(np.eye(k) - 1.0 / k, factor @ factor.T)
        return Solution(mean, covariance, found.steps)

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {
            "mean": self.mean,
            "steps": np.array(self._solution.steps),
            **self.covariance.arrays(),
        }

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        covariance = KroneckerCovariance(state["outer"], state["inner"])
        return Solution(read_only(state["mean"]), covariance, int(state["steps"]))

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"num_labels": np.array(self._num_classes)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        return super()._options(state, channel) | {"num_classes": int(state["num_labels"])}
