"""The variational posterior of logistic regression (Jaakkola and Jordan, 2000)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from apm.posteriors.base import Posterior
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._validation import Array, positive


class Solution(NamedTuple):
    """The fixed point: what the next one starts from, and what the moments are made of."""

    mean: Array
    factor: Array
    xi: Array
    evidence_bound: float
    steps: int
    map_start: Array


class VariationalLogistic(ScalarGaussian):
    """The Gaussian that maximises the Jaakkola-Jordan bound on the evidence (paper, Algorithm 1).

    xi_i^2 = x_i'(Sigma + mu mu')x_i,     Sigma^-1 = lambda I + 2 sum_i lam(xi_i) x_i x_i',
    mu = Sigma sum_i (y_i - 1/2) x_i,     lam(xi) = tanh(xi / 2) / (4 xi).
    """

    __slots__ = ("_tol",)
    _tol: float

    def __init__(
        self,
        prior_precision: float = 0.01,
        tol: float = 1e-10,
        *,
        intercept: bool = False,
        intercept_precision: float | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        self._set(_tol=positive("tol", tol))
        self._begin(
            prior_precision,
            intercept=intercept,
            intercept_precision=intercept_precision,
            classes=classes,
        )

    @property
    def num_labels(self) -> int:
        return 2

    @property
    def channel(self) -> Any:
        from channelcode.channels import Logistic

        return Logistic()

    def _solved(self) -> Solution:
        self._known_design()
        return self._solution

    @property
    def tol(self) -> float:
        return self._tol

    @property
    def mean(self) -> Array:
        return self._solved().mean

    @property
    def factor(self) -> Array:
        return self._solved().factor

    @property
    def xi(self) -> Array:
        """The variational parameters, `(n,)`, non-negative."""
        return self._solved().xi

    @property
    def evidence_bound(self) -> float:
        """The lower bound on ln p(y | X), in nats."""
        return self._solved().evidence_bound

    @property
    def steps(self) -> int:
        return self._solved().steps

    @property
    def map(self) -> Array:
        if "map" not in self._cache:
            X, w, lam = self.design, self._weights, self.precision
            s = np.where(self._codes == 1, 1.0, -1.0)
            theta = self._solved().map_start.copy()
            for _ in range(100):
                p = 1 / (1 + np.exp(s * (X @ theta)))
                g = lam * theta - X.T @ (w * s * p)
                step = np.linalg.solve((X.T * (w * p * (1 - p))) @ X + np.diag(lam), g)
                theta = theta - step
                if np.abs(step).max() < 1e-12 * (1 + np.abs(theta).max()):
                    break
            self._cache["map"] = theta
        return self._cache["map"]

    def _solve(self, start: Posterior | None) -> Solution:
        X, w = self.design, self._weights
        half = w * (self._codes - 0.5)
        t = np.ones(len(X))
        mean = np.zeros(X.shape[1])
        if isinstance(start, VariationalLogistic):
            t = np.sum((X @ start.factor) ** 2, axis=1) + (X @ start.mean) ** 2
        covariance = np.diag(1 / self.precision)
        bound, steps = 0.0, 0
        for steps in range(1, 100_000):
            xi = np.sqrt(np.maximum(t, 1e-30))
            lam = np.tanh(xi / 2) / (4 * xi)
            covariance = np.linalg.inv(np.diag(self.precision) + (X.T * (2 * w * lam)) @ X)
            mean = covariance @ (X.T @ half)
            new = np.einsum("ij,ij->i", X @ covariance, X) + (X @ mean) ** 2
            done = len(t) == 0 or np.abs(np.log(new / t)).max() < self._tol / 1000
            t = new
            bound = 0.5 * np.linalg.slogdet(covariance)[1] + 0.5 * np.log(self.precision).sum()
            bound += 0.5 * mean @ (X.T @ half)
            bound += float(np.sum(w * (-np.log1p(np.exp(-xi)) - xi / 2 + lam * xi**2)))
            if done:
                break
        values, vectors = np.linalg.eigh(covariance)
        factor = vectors * np.sqrt(values)
        start_map = start.map if isinstance(start, VariationalLogistic) else mean * 0
        return Solution(mean, factor, np.sqrt(t), float(bound), steps, start_map)

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(value) for name, value in self._solved()._asdict().items()}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        return Solution(
            np.array(state["mean"]), np.array(state["factor"]), np.array(state["xi"]),
            float(state["evidence_bound"]), int(state["steps"]), np.array(state["map_start"]),
        )  # fmt: skip

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"tol": np.array(self._tol)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray]) -> dict[str, Any]:
        return super()._options(state) | {"tol": float(state["tol"])}
