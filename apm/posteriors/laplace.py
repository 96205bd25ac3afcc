"""The Laplace posterior: a Gaussian at the most probable weights, for any channel."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from apm.encoders import Encoder, Linear
from apm.pools.inputs import Matrix, is_sparse
from apm.posteriors.base import Posterior, PriorOptions
from apm.posteriors.covariances.covariance import (
    BlockCovariance,
    Covariance,
    DiagonalCovariance,
    KroneckerCovariance,
)
from apm.posteriors.covariances.feature_covariance import FeatureCovariance, require_room, times
from apm.posteriors.covariances.structures import (
    DiagonalHessian,
    FullHessian,
    KroneckerHessian,
    Structure,
    full_hessian,
)
from apm.posteriors.fitting.maximum import (
    convex_part,
    inputs_of,
    label_derivatives,
    maximise,
    newton,
    span,
)
from apm.posteriors.fitting.softmax_maximum import complements
from apm.posteriors.gaussian import MANY_FEATURES, ScalarGaussian, span_of
from apm.posteriors.input_projection import informative_projection
from channelcode._validation import Array, Seed, read_only
from channelcode.channels import Channel, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool


class Solution(NamedTuple):
    """The maximum, the covariance or (on the line) a factor of it, and its honesty."""

    weights: Array
    covariance: Any
    factor: Any
    exact: bool
    steps: int
    coordinates: Array | None = None


class EncoderOptions(TypedDict, total=False):
    """What `Laplace` takes beside an encoder."""

    push: str
    prior: Any
    samples: int
    restarts: int | None
    rng: Seed


class LaplaceOptions(PriorOptions, EncoderOptions, total=False):
    """What `Laplace` takes by keyword."""


class Laplace(Posterior):
    """N(theta_MAP, H^-1) with H the Hessian of -ln p(theta | labels) at its maximum (theory 5).

        H = I (x) diag(precision) - sum_i s_i d^2 ln p(y_i | l_i) (x) x_i x_i',   l_i = theta x_i.

    Works for every channel through `channel.derivatives`; on R^k theta is `(k, q)` and `structure`
    (`FullHessian()`, `KroneckerHessian()`, `DiagonalHessian()`) says what is kept of H. Directions
    of l that the channel does not see (a softmax's common shift) are taken out of the covariance.

    For a channel that is not log-concave (`Cauchit`, `Lapse`) the maximum is a local one, and where
    H is not positive definite there, labels curved the wrong way count as flat (`exact` is False).

    With `encoder=`, an encoder into which the parameters may enter in any way, it becomes an
    `EncodedLaplace`, which has options of its own: `push`, `prior`, `samples`, `restarts`, `rng`.

    >>> from channelcode.channels import Probit
    >>> posterior = Laplace(Probit(), 1.0).fit([[2.0], [-1.0]], [1, 0])
    >>> posterior.mean.round(6).tolist(), posterior.covariance.round(6).tolist()
    ([0.715337], [[0.410145]])
    """

    __slots__ = ("_channel", "_projection", "_structure")
    _channel: Channel
    _structure: Structure
    _projection: Array

    def __new__(cls, *args: Any, **options: Any) -> Laplace:
        """A posterior for the encoder given, if there is one that is not `Linear()`."""
        encoder = options.get("encoder")
        if cls is Laplace and encoder is not None and type(encoder) is not Linear:
            from apm.posteriors.encoded_laplace import EncodedLaplace

            return object.__new__(EncodedLaplace)
        return object.__new__(cls)

    def __init__(
        self,
        channel: Channel,
        prior_precision: float = 0.01,
        *,
        structure: Structure | None = None,
        encoder: Encoder | None = None,
        **options: Unpack[LaplaceOptions],
    ) -> None:
        own = [name for name in EncoderOptions.__annotations__ if name in options]
        if own:
            rule = "must be given with an encoder that is not Linear()"
            raise InvalidArgument(own[0], rule, options.get(own[0]))
        if not isinstance(channel, Channel) or channel.inputs is not None:
            raise InvalidArgument("channel", "must be a channel with a continuous input", channel)
        structure = FullHessian() if structure is None else structure
        if not isinstance(structure, Structure):
            rule = "must be FullHessian(), KroneckerHessian() or DiagonalHessian()"
            raise InvalidArgument("structure", rule, structure)
        if channel.dim == 1 and self.linear and not isinstance(self, ScalarLaplace):
            if type(self) is not Laplace:
                rule = "must have an input in R^k: for one on the line derive from ScalarLaplace"
                raise InvalidArgument("channel", rule, channel)
            object.__setattr__(self, "__class__", ScalarLaplace)
        self._set(
            _channel=channel, _structure=structure, _projection=informative_projection(channel)
        )
        super().__init__(prior_precision, **options)  # type: ignore[misc]

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def structure(self) -> Structure:
        """What is kept of the Hessian."""
        return self._structure

    @property
    def exact(self) -> bool:
        """False where the Hessian was not positive definite and its convex part stands in."""
        return self._solved().exact

    @property
    def map(self) -> Array:
        weights = self._solved().weights
        return weights[0] if self.dim == 1 else weights

    @property
    def mean(self) -> Array:
        """The most probable weights, `(q,)` or `(k, q)`."""
        return self.map

    @property
    def covariance(self) -> Any:
        """Cov theta, `(q, q)` on the line, a structured `Covariance` in R^k."""
        return self._solved().covariance

    @property
    def summed_covariance(self) -> Array:
        return self.covariance.summed

    def project(self, features: Matrix) -> tuple[Array, ...]:
        return project_classes(self, self._projection @ self.mean, self.covariance, features)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return self.covariance.pool(*arrays)

    def _solved(self) -> Solution:
        self._known_design()
        return self._solution

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        design, codes, weights = self.design, self._codes, self._weights
        before = start._solution.weights if isinstance(start, Laplace) else None
        found = maximise(
            self._channel,
            design,
            codes=codes,
            weights=weights,
            precision=self._precision,
            start=before,
        )
        l = inputs_of(self._channel, design, found.weights)
        if type(self._channel) is Softmax:
            curvatures = _softmax_curvatures(l, weights, diagonal=self._structure.needs_diagonal)
        else:
            _, hessian = label_derivatives(self._channel, codes, l)
            curvatures = -weights[:, None, None] * hessian
        try:
            covariance, factor = self._spread(curvatures)
            exact = True
        except np.linalg.LinAlgError:
            covariance, factor = self._spread(convex_part(curvatures))
            exact = False
        found.weights.setflags(write=False)
        if factor is not None:
            factor.setflags(write=False)
        return Solution(found.weights, covariance, factor, exact, found.steps)

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"structure": np.array(type(self._structure).__name__)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        known = {kind.__name__: kind for kind in (FullHessian, KroneckerHessian, DiagonalHessian)}
        name = str(state["structure"])
        if name not in known:
            raise InvalidArgument("structure", f"must be one of {sorted(known)} to be read", name)
        extra = {"channel": channel, "structure": known[name]()}
        return super()._options(state, channel) | extra

    def _spread(self, curvatures: Array) -> tuple[Any, Any]:
        """The covariance in R^k, or its factor on the line; LinAlgError if there is none."""
        checked = isinstance(self._structure, FullHessian) or type(self._channel) is Softmax
        if not checked and len(curvatures):
            least = np.linalg.eigvalsh(curvatures).min()
            if least < -1e-9 * np.abs(curvatures).max():
                raise np.linalg.LinAlgError  # a structure needs each label's convex part
        covariance = self._structure.covariance(
            curvatures, self.design, precision=self._precision, centre=self._projection
        )
        return covariance, None

    def _solution_state(self) -> dict[str, np.ndarray]:
        solved = self._solved()
        state = {"theta": solved.weights, "exact": np.array(solved.exact)}
        state["steps"] = np.array(solved.steps)
        if isinstance(solved.factor, FeatureCovariance):
            state |= solved.factor.arrays() | {"coordinates": solved.coordinates}
        elif solved.factor is not None:
            state["factor"] = solved.factor
        if solved.covariance is not None:
            state |= solved.covariance.arrays()
        return state

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        covariance = None
        factor = None
        coordinates: Any = None
        if self.dim == 1 and "coordinates" in state:
            factor = FeatureCovariance.from_arrays(state)
            coordinates = read_only(state["coordinates"])
        elif self.dim == 1:
            factor = read_only(state["factor"])
        elif "matrix" in state:
            covariance = BlockCovariance(state["matrix"], int(state["num_classes"]))
        elif "outer" in state:
            covariance = KroneckerCovariance.from_arrays(state)
        elif "variances" in state:
            covariance = DiagonalCovariance(state["variances"], state["centre"])
        theta = read_only(state["theta"])
        exact, steps = bool(state["exact"]), int(state["steps"])
        return Solution(theta, covariance, factor, exact, steps, coordinates)


class ScalarLaplace(ScalarGaussian, Laplace):
    """What `Laplace(channel)` makes for a scalar channel: `covariance` is `(q, q)`."""

    __slots__ = ()

    @property
    def _root(self) -> Array | FeatureCovariance:
        return self._solved().factor

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        diagonal = isinstance(self._structure, DiagonalHessian)
        if len(self._precision) < MANY_FEATURES or diagonal:
            return super()._solve(start, fresh)
        held = start._solution if isinstance(start, ScalarLaplace) else None
        features, Z, _ = span_of(self, start, held, fresh)
        weights, steps = np.zeros((1, Z.shape[1])), 0
        if held is not None:
            weights = features.whitened(held.weights)
        if len(Z):
            weights, steps = newton(self._channel, Z, self._codes, self._weights, weights)
        l = inputs_of(self._channel, Z, weights)
        _, hessian = label_derivatives(self._channel, self._codes, l)
        curvatures, ones = -self._weights[:, None, None] * hessian, np.ones(Z.shape[1])
        exact = True
        try:
            factor = _inverse_root(full_hessian(curvatures, Z, ones))
        except np.linalg.LinAlgError:
            factor = _inverse_root(full_hessian(convex_part(curvatures), Z, ones))
            exact = False
        theta = features.lifted(weights)
        for array in (theta, Z):
            array.setflags(write=False)
        return Solution(theta, None, features.with_factor(factor), exact, steps, Z)

    def _spread(self, curvatures: Array) -> tuple[Any, Any]:
        if isinstance(self._structure, DiagonalHessian):
            own = np.maximum(curvatures[:, 0, 0], 0.0)
            count = len(self._precision)
            require_room((count, count), "the factor of the covariance")
            return None, np.diag((self._precision + own @ self.design**2) ** -0.5)
        return None, scalar_factor(curvatures, self.design, self._precision)


def _softmax_curvatures(l: Array, weights: Array, *, diagonal: bool) -> Array:
    """s_i (diag(p_i) - p_i p_i') `(n, k, k)`, or its diagonals `(n, k)`."""
    from scipy import special

    probability = special.softmax(l, axis=1) if len(l) else l
    own = probability * weights[:, None]
    spread = own * complements(probability) if len(l) else own
    if diagonal:
        return spread
    n, k = l.shape
    require_room((n, k * k), "one curvature for each label", "X")
    curvatures = -own[:, :, None] * probability[:, None, :]
    curvatures[:, np.arange(k), np.arange(k)] = spread
    return curvatures


def _inverse_root(matrix: Array) -> Any:
    """F with F F' = matrix^-1; LinAlgError if it is not positive definite."""
    return np.linalg.inv(np.linalg.cholesky(matrix)).T if len(matrix) else matrix


def scalar_factor(curvatures: Array, design: Array, precision: Array) -> Array:
    """F with F F' = (diag(precision) + sum_i w_i x_i x_i')^-1, through the span of the rows."""
    coordinates, basis = span(design, precision)
    width = coordinates.shape[1]
    factor = _inverse_root(full_hessian(curvatures, coordinates, np.ones(width)))
    if basis is not None:
        factor = np.eye(len(precision)) + basis.T @ (factor - np.eye(width)) @ basis
    return factor / np.sqrt(precision)[:, None]


def project_classes(
    posterior: Posterior, mean: Array, covariance: Covariance, features: Matrix
) -> tuple[Any, ...]:
    """Means `(n, k)` and the covariance's spread for features `(n, p)`."""
    posterior.require_features(features.shape[1])
    centre = times(features, mean.T)
    if isinstance(covariance, KroneckerCovariance):
        return centre, covariance.spread(features)
    if is_sparse(features):
        features = features.toarray()  # type: ignore[attr-defined]
    if posterior.intercept:
        constant = np.ones((len(features), 1), dtype=features.dtype)
        features = np.concatenate((features, constant), axis=1)
    return centre, covariance.spread(features)
