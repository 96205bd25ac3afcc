"""Bayesian linear regression: numbers as labels, Gaussian noise, the exact posterior."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, NoReturn, Unpack

import numpy as np

from apm.posteriors.base import LARGEST, Posterior, PriorOptions
from apm.posteriors.covariances.feature_covariance import WIDE, FeatureCovariance
from apm.posteriors.gaussian import ScalarGaussian, span_of
from apm.posteriors.labels import Labels, as_labels
from channelcode._numerics.logspace import HALF_LOG_TWO_PI
from channelcode._validation import Array, positive, read_only
from channelcode.channels import AdditiveGaussian
from channelcode.errors import InvalidArgument


class Solution(NamedTuple):
    """The posterior mean, its covariance, the examples in its coordinates, and ln p(y | X)."""

    mean: Array
    factor: FeatureCovariance
    coordinates: Array
    log_evidence: float


class LinearGaussian(ScalarGaussian):
    """Linear regression y = <theta, phi> + N(0, noise^2) with theta ~ N(0, I / prior_precision).

        Sigma^-1 = Lambda + sum_i w_i phi_i phi_i' / noise^2,
        mean = Sigma sum_i w_i y_i phi_i / noise^2

    The label is the output of `AdditiveGaussian(noise)`, a number and not the name of a class, so
    there are no `classes_`; `Learner.predict` gives means, and a label tells
    `1/2 log2(1 + phi'Sigma phi / noise^2)` bits. Everything is exact to rounding: one
    QR factorisation of the examples beside the prior, in units of the prior. A `sample_weight`
    w counts a label w times.

    - `noise`: the standard deviation of a label around its mean;
    - `log_evidence`: ln p(y | X), for choosing `noise` and `prior_precision`.

    >>> from apm import Belief
    >>> fitted = LinearGaussian(0.5, 1.0).fit([[1.0], [2.0]], [1.2, 1.8])
    >>> fitted.mean.round(4), fitted.covariance.round(4)
    (array([0.9143]), array([[0.0476]]))
    >>> Belief(fitted).information_gain([[1.0], [3.0]]).round(4)
    array([0.1258, 0.7203])
    """

    __slots__ = ("_noise",)
    _noise: float
    _code_type: ClassVar[Any] = np.float64

    def __init__(
        self, noise: float = 1.0, prior_precision: float = 0.01, **options: Unpack[PriorOptions]
    ) -> None:
        self._set(_noise=positive("noise", noise))
        classes = options.get("classes")
        if classes is not None:
            rule = "must be left out: the labels of a regression are numbers, not classes"
            raise InvalidArgument("classes", rule, classes)
        super().__init__(prior_precision, **options)
        self._set(_codes=np.empty(0))

    @property
    def noise(self) -> float:
        """The standard deviation of a label around its mean."""
        return self._noise

    @property
    def num_labels(self) -> Any:
        """Infinite: a label is any number."""
        return np.inf

    @property
    def channel(self) -> AdditiveGaussian:
        return AdditiveGaussian(self._noise)

    @property
    def classes_(self) -> NoReturn:
        """There are none: asking raises, so that `hasattr` is False."""
        raise AttributeError("a regression has no classes: its labels are numbers")

    @property
    def has_classes(self) -> bool:
        return False

    @property
    def labels(self) -> Labels:
        return self.codes

    @property
    def mean(self) -> Array:
        return self._solved().mean

    @property
    def map(self) -> Array:
        return self.mean

    @property
    def log_evidence(self) -> float:
        """ln p(y | X), the density of the labels seen under the prior, in nats."""
        return self._solved().log_evidence

    @property
    def _root(self) -> FeatureCovariance:
        return self._solved().factor

    def _solved(self) -> Solution:
        self._known_design()
        return self._solution

    def _coded(self, labels: Labels) -> dict[str, Any]:
        return {"_codes": self._numbers(labels)}

    def _coded_after(self, y: Any) -> tuple[Any, Any, dict[str, Any]]:
        return self._codes, self._numbers(as_labels(y)), {}

    def _numbers(self, labels: Labels) -> Array:
        if labels.dtype.kind not in "buif":
            raise InvalidArgument("y", "must be numbers for a regression", labels[0].item())
        return labels.astype(np.float64)

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        from scipy.linalg import solve_triangular

        if len(self._precision) >= WIDE:
            held = start._solution if isinstance(start, LinearGaussian) else None
            features, Z, _ = span_of(self, start, held, fresh)
        else:
            features = FeatureCovariance.prior(self._precision)
            Z = self._known_design() * features.deviation
        n, rank = Z.shape
        self._require_noise(Z)
        root = np.sqrt(self._weights)[:, None] / self._noise
        # |[I; Z/noise] u - [0; y/noise]|^2 in units of the prior: R u = z, and what is left over
        stacked = np.zeros((rank + n, rank + 1))
        stacked[:rank, :rank] = np.eye(rank)
        stacked[rank:, :rank] = root * Z
        stacked[rank:, rank] = root[:, 0] * self._codes
        upper: Any = np.linalg.qr(stacked, mode="r")
        triangle, image = upper[:rank, :rank], upper[:rank, rank]
        left = float(upper[rank, rank] ** 2) if len(upper) > rank else 0.0
        factor = solve_triangular(triangle, np.eye(rank), check_finite=False)
        mean = features.lifted(solve_triangular(triangle, image, check_finite=False))
        count = float(self._weights.sum())
        spread = count * (HALF_LOG_TWO_PI + np.log(self._noise))
        turned = float(np.log(np.abs(np.diag(triangle))).sum())
        return Solution(
            read_only(mean),
            features.with_factor(factor),
            read_only(Z),
            -(0.5 * left + turned + spread),
        )

    def _require_noise(self, Z: Array) -> None:
        """Refuse noise beside which squares of labels or features would overflow."""
        weight = float(self._weights.max(initial=1.0)) ** 0.5
        largest = weight * max(np.abs(Z).max(initial=0.0), np.abs(self._codes).max(initial=0.0))
        if not largest <= LARGEST * self._noise:
            rule = f"must be at least 1 / {LARGEST:g} of the labels and of the prior's predictions"
            raise InvalidArgument("noise", rule, self._noise)

    def _solution_state(self) -> dict[str, np.ndarray]:
        held = self._solved()
        parts = {"mean": held.mean, "coordinates": held.coordinates} | held.factor.arrays()
        return parts | {"log_evidence": np.array(held.log_evidence)}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        mean, coordinates = (read_only(state[name]) for name in ("mean", "coordinates"))
        factor = FeatureCovariance.from_arrays(state)
        return Solution(mean, factor, coordinates, float(state["log_evidence"]))

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"noise": np.array(self._noise)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        return super()._options(state, channel) | {"noise": float(state["noise"])}
