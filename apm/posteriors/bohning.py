"""The softmax posterior under Bohning's bound: one covariance, whatever the labels."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from apm.pools.inputs import Matrix
from apm.posteriors.base import Posterior, PriorOptions
from apm.posteriors.covariances.covariance import KroneckerCovariance
from apm.posteriors.covariances.feature_covariance import FeatureCovariance, RankOne
from apm.posteriors.evidence import MaximumEvidence, WithEvidence
from apm.posteriors.fitting.softmax_maximum import laplace_evidence, softmax_maximum
from apm.posteriors.laplace import project_classes
from channelcode._validation import Array, Seed, as_generator, integer, read_only
from channelcode.channels import Softmax
from channelcode.measures import Pool

FEW = 8  # labels at once up to which the covariance is updated instead of made anew
LONGEST = 1e10  # x'Bx above which an update would lose more than five digits


class Solution(NamedTuple):
    """The maximum and the rows in the coordinates of the covariance's span, and the covariance."""

    weights: Array
    coordinates: Array
    covariance: KroneckerCovariance
    steps: int
    change: RankOne | None = None


class Bohning(Posterior, WithEvidence):
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
        prior_precision: float | MaximumEvidence = 0.01,
        **options: Unpack[PriorOptions],
    ) -> None:
        self._set(_num_classes=integer("num_classes", num_classes, least=2))
        super().__init__(prior_precision, **options)

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
        if "mean" not in self._cache:
            held, own = self._solution, self._solution.covariance.features
            mean = own.lifted(held.weights)
            mean.setflags(write=False)
            self._cache["mean"] = mean
        return self._cache["mean"]

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

    @property
    def top_eigenvalue(self) -> float:
        if "top" not in self._cache:
            own = (self._num_classes - 1) * self.covariance.features.top_eigenvalue
            self._cache["top"] = own
        return self._cache["top"]

    @property
    def log_evidence(self) -> float:
        """Laplace's approximation of ln p(y | X), in nats; zero for the prior.

            ln p(y | X, theta) + ln p(theta) at the maximum, less ln det(I + Z'WZ) / 2,

        Z the examples in units of the prior and W the softmax Hessian there. Bohning's own bound
        on it is so loose that its largest value tells nothing about the precision.
        """
        if "evidence" not in self._cache:
            self._known_design()
            held: Solution = self._solution
            self._cache["evidence"] = laplace_evidence(
                held.coordinates, held.weights, self._codes, self._weights
            )
        return self._cache["evidence"]

    @property
    def last_update(self) -> RankOne | None:
        """What the last label did to the feature covariance B, or None if that was not one label.

        B = B_before - shrink image image', so what is known of a pool follows: see `RankOne`.
        """
        self._known_design()
        return self._solution.change

    def leverage(self, features: Matrix) -> Any:
        """x'Bx of every row, `(n,)`: the logits' covariance is this times I - 11'/K."""
        return self.covariance.features.quadratic(features)

    def cross_leverage(self, features: Matrix, targets: Matrix) -> Array:
        """x'Bx* of every row and target, `(n, t)`."""
        return self.covariance.features.cross(features, targets)

    def sample(self, count: int, *, rng: Seed = None) -> Array:
        """Draws of the centred weights, `(count, k, q)`."""
        k, q = self.mean.shape
        noise = as_generator(rng).standard_normal((integer("count", count, least=1), k, q))
        noise -= noise.mean(axis=1, keepdims=True)
        return self.mean + self.covariance.features.draw(noise)

    def project(self, features: Matrix) -> tuple[Array, ...]:
        return project_classes(self, self.mean, self.covariance, features)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return self.covariance.pool(*arrays)

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        k, n = self._num_classes, len(self._codes)
        before = start if isinstance(start, Bohning) else None
        change = None
        if before is not None and self._continues(before, fresh):
            held: Solution = before._solution
            features, Z = held.covariance.features, held.coordinates
            for place in range(n - fresh, n):
                weight = 0.5 * float(self._weights[place])
                features, change = features.shrunk(self.design[place], weight)
            Z = features.extended(Z, self.design[n - fresh :])
            first = np.zeros((k, Z.shape[1]))
            first[:, : held.weights.shape[1]] = held.weights
        else:
            features, Z = FeatureCovariance.whole(self.design, self._precision, 0.5 * self._weights)
            first = np.zeros((k, Z.shape[1]))
            if before is not None:
                first = features.whitened(before.mean)
        steps = 0
        if n:
            first, steps = softmax_maximum(Z, self._codes, self._weights, first)
        covariance = KroneckerCovariance(np.eye(k) - 1.0 / k, features)
        for array in (first, Z):
            array.setflags(write=False)
        return Solution(first, Z, covariance, steps, change if fresh == 1 else None)

    def _continues(self, before: Bohning, fresh: int) -> bool:
        """Whether the covariance of `before` is to be updated rather than made anew."""
        n = len(self._codes)
        if before.num_observations + fresh != n or not 0 < fresh <= FEW:
            return False
        rows = self.design[n - fresh :]
        return float(before.covariance.features.quadratic(rows).max()) <= LONGEST

    def _solution_state(self) -> dict[str, np.ndarray]:
        held: Solution = self._solution
        state = {
            "theta": held.weights,
            "coordinates": held.coordinates,
            "steps": np.array(held.steps),
            **held.covariance.arrays(),
        }
        del state["outer"]
        return state

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        k = self._num_classes
        covariance = KroneckerCovariance.from_arrays(state | {"outer": np.eye(k) - 1.0 / k})
        theta, coordinates = read_only(state["theta"]), read_only(state["coordinates"])
        return Solution(theta, coordinates, covariance, int(state["steps"]))

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"num_labels": np.array(self._num_classes)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        return super()._options(state, channel) | {"num_classes": int(state["num_labels"])}
