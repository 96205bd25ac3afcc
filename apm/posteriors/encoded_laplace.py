"""The Laplace posterior of an encoder into which the parameters enter non-linearly."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder
from apm.encoders.calling import channel_inputs
from apm.pools.inputs import Matrix, as_dense
from apm.posteriors.base import Posterior
from apm.posteriors.covariances.expansion import Expansion, Factor, Spread
from apm.posteriors.covariances.feature_covariance import require_room
from apm.posteriors.fitting.gauss_newton import (
    Maximum,
    Problem,
    expanded,
    whitened_jacobian,
)
from apm.posteriors.fitting.restarts import best_maximum
from apm.posteriors.laplace import Laplace
from apm.posteriors.samples.priors import require_prior
from apm.posteriors.samples.reweighting import Pending
from channelcode._validation import Array, Seed, as_generator, finite_array, integer, read_only
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Gaussian, Pool, gaussian_pool

RESTARTS = 4  # further starts from the prior, unless the encoder brings a start of its own
PIECE_ENTRIES = 1 << 20  # of the jacobian of a pool at a time: eight mebibytes


class EncodedLaplace(Laplace):
    """What `Laplace(channel, encoder=encoder)` makes: N(theta_MAP, Lambda^-1) for any encoder.

        Lambda = Lambda_0 + sum_i s_i J_i' B_i J_i,   J_i = dh/dtheta,  B_i = E_y[-d^2 ln p(y|l)]

    at the maximum of ln p(theta | labels), with the Fisher information B (positive semidefinite for
    every channel). The prior is N(0, I / prior_precision), or `prior=Gaussian(mean, covariance)`.

    - `push="linear"`: l ~ N(h(theta_MAP, x), J Lambda^-1 J'), as in the literature on networks;
      `push="draws"`: `samples` draws of theta through the true h, better where h bends much;
    - `restarts`: further starts from the prior at every fit (4; 0 for a network that has weights);
      where two maxima of nearly the same height say different things, a warning
      (`CompetingMaxima`) says that one Gaussian is too few;
    - `gradient_norm`: |grad ln p| at the point of expansion; `at(theta)` expands elsewhere.

    >>> import numpy as np
    >>> from apm import NonLinear
    >>> from channelcode import Logistic
    >>> decay = NonLinear(lambda theta, X: theta[:, 0] - np.exp(theta[:, 1]) * X, 2)
    >>> posterior = Laplace(Logistic(), 1.0, encoder=decay).fit([[0.0], [1.0], [2.0]], [1, 1, 0])
    >>> posterior.mean.round(4), posterior.gradient_norm < 1e-6
    (array([ 0.6662, -0.0834]), True)
    """

    __slots__ = ("_asked", "_drawn", "_encoder", "_fixed", "_plan", "_prior", "_push")
    _encoder: Encoder
    _push: str
    _prior: Gaussian | None
    _plan: tuple[int, int, int]
    _drawn: Array | None
    _fixed: Array | None
    _asked: tuple[Any, ...]

    linear = False

    def __init__(
        self,
        channel: Channel,
        prior_precision: float = 0.01,
        *,
        encoder: Encoder,
        push: str = "linear",
        prior: Gaussian | None = None,
        samples: int = 512,
        restarts: int | None = None,
        rng: Seed = 0,
        classes: ArrayLike | None = None,
    ) -> None:
        if not isinstance(encoder, Encoder):
            rule = "must be an encoder such as NonLinear(function, num_parameters)"
            raise InvalidArgument("encoder", rule, encoder)
        if push not in ("linear", "draws"):
            raise InvalidArgument("push", 'must be "linear" or "draws"', push)
        if prior is not None:
            require_prior(prior, encoder.num_parameters)
        if isinstance(rng, np.random.Generator) or rng is None:
            rng = int(as_generator(rng).integers(2**63))
        if restarts is None:  # trained weights are a start that a prior draw will not better
            restarts = 0 if hasattr(encoder, "start") else RESTARTS
        plan = (
            integer("samples", samples, least=2),
            integer("restarts", restarts, least=0),
            integer("rng", rng, least=0),
        )
        self._set(_encoder=encoder, _push=push, _prior=prior, _plan=plan, _asked=())
        self._set(_drawn=None, _fixed=None)
        super().__init__(channel, prior_precision, classes=classes)

    # What it is -------------------------------------------------------------------------------

    @property
    def encoder(self) -> Encoder:
        """The map from parameters and example to the channel input."""
        return self._encoder

    @property
    def push(self) -> str:
        """How the Gaussian goes through the encoder: "linear" or "draws"."""
        return self._push

    @property
    def prior(self) -> Gaussian | None:
        """The prior of the parameters, if it is not N(0, I / prior_precision)."""
        return self._prior

    @property
    def gives_samples(self) -> bool:  # type: ignore[override]
        """Whether the induced laws are samples: with `push="draws"`."""
        return self._push == "draws" or self._drawn is not None

    @property
    def map(self) -> Array:
        """The most probable parameters, `(q,)` (the point of expansion)."""
        return self._problem(0).theta(self._solved().u)

    @property
    def covariance(self) -> Array:
        """Cov theta = Lambda^-1, `(q, q)`."""
        if "covariance" not in self._cache:
            spread, scale = self._solved().spread, self._problem(0).scale
            q = len(self._solved().u)
            require_room((q, q), "the covariance of the parameters")
            root = spread.draw(np.eye(q))
            root = root * scale if scale.ndim == 1 else root @ scale.T
            covariance = root.T @ root  # a row for each direction of the noise
            covariance.setflags(write=False)
            self._cache["covariance"] = covariance
        return self._cache["covariance"]

    @property
    def summed_covariance(self) -> Array:
        """Refused: where l is not <theta, x>, no spectrum of Cov theta bounds the power of l."""
        rule = (
            "must not be a spectral one where l is not <theta, x>: APM here needs a budget of its "
            "own, such as APM(PoolMaxPower()); InformationGain() needs none"
        )
        raise InvalidArgument("power", rule, self._encoder)

    @property
    def gradient_norm(self) -> float:
        """|grad ln p(theta | labels)| at the point of expansion: zero at a maximum."""
        return float(np.linalg.norm(self._solved().gradient))

    @property
    def distance(self) -> float:
        """How far the point of expansion is from the maximum, in posterior deviations."""
        return self._solved().decrement

    @property
    def log_evidence(self) -> float:
        """ln p(labels) by Laplace's formula with the Fisher form of the Hessian, in nats."""
        return self._solved().log_evidence

    def at(self, theta: ArrayLike) -> Self:
        """This posterior expanded at given parameters `(q,)`, such as those of a trained network.

        Away from the maximum it is the posterior of another model: `gradient_norm` says how far.
        """
        problem = self._problem(len(self.design))
        return self._evolve(_solution=self._expanded(problem, theta), _asked=(), _drawn=None)

    def fit_at(
        self,
        theta: ArrayLike,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """The posterior of these labels expanded at theta `(q,)`, without a search for the maximum.

        For a network that was trained elsewhere: theta are its weights. It is `fit(X, y).at(theta)`
        at the cost of one jacobian; `gradient_norm` says how far theta is from a maximum.
        """
        return self._evolve(_fixed=finite_array("theta", theta, ndim=1)).fit(X, y, sample_weight)

    # Candidates -------------------------------------------------------------------------------

    def inputs(self, theta: Array, features: Any) -> Array:
        """l of every row at theta `(q,)`: `(n,)` or `(n, k)`; at `(s, q)`: `(n, s)` or `(n, s, k)`.

        With `push="linear"` in the linear model around the point of expansion.
        """
        X, draws = self._rows(features), np.atleast_2d(theta)
        if self._push == "draws" or np.ndim(theta) == 1:
            found = channel_inputs(self._encoder, draws, X, self._channel)
            return found[:, 0] if np.ndim(theta) == 1 else found
        problem = self._problem(0)
        moved = problem.coordinates(draws) - self._solved().u
        pieces = []
        for part in self.pieces(X):
            centre, slopes = self._centre(part), whitened_jacobian(problem, self._solved().u, part)
            change = np.swapaxes(slopes @ moved.T, 1, 2)  # (n, s, k)
            pieces.append(centre[:, None] + (change[..., 0] if self.dim == 1 else change))
        return np.concatenate(pieces)

    def mean_inputs(self, features: Any) -> Any:
        """E l of every row: at the maximum, or over the draws."""
        if self.gives_samples:
            return self.pool(self.project(features)).mean
        return self._centre(self._rows(features))

    def project(self, features: Matrix) -> tuple[Array, ...]:
        if self.gives_samples:
            drawn = self._solved().draws if self._drawn is None else self._drawn
            inputs = self.inputs(np.asarray(drawn), features)
            for pending in self._asked:
                inputs = pending.moved(inputs)
            return (inputs,)
        X = self._rows(features)
        spreads = []
        for part in self.pieces(X):
            image = self.images(part)
            spreads.append(image @ np.swapaxes(image, 1, 2))
        spread = np.concatenate(spreads)
        return self._centre(X), spread[:, 0, 0] if self.dim == 1 else spread

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays) if self.gives_samples else gaussian_pool(*arrays)

    def images(self, X: Array) -> Array:
        """Rows whose inner products are the covariances of l, `(n, k, c)`; not in pieces."""
        solved = self._solved()
        image = solved.spread.image(whitened_jacobian(self._problem(0), solved.u, X))
        for axes, lost in self._asked:
            image = image - ((image @ axes) * lost) @ axes.T
        return image

    def leverage(self, features: Matrix) -> Array:
        """Var l of every row, `(n,)`; in R^k the total variance."""
        parts = [np.square(self.images(part)) for part in self.pieces(self._rows(features))]
        return np.concatenate([part.sum(axis=(1, 2)) for part in parts])

    def drawn(self, samples: int, rng: np.random.Generator) -> Self:
        """This posterior by draws of theta, pushed as `push` says: for rules that need draws."""
        if self.gives_samples:
            return self
        theta = self._draws(self._solved().u, self._solved().spread, samples, rng)
        return self._evolve(_drawn=theta, _asked=())

    def after_asking(self, features: Matrix, weight: Any) -> Self:
        if self.gives_samples:
            inputs = self.project(features)[0][0]
            count = inputs.shape[0]
            pending: Any = Pending.of(inputs, np.full(count, 1.0 / count), weight)
        else:
            values, vectors = np.linalg.eigh(np.atleast_2d(weight))
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            image = root @ self.images(self._rows(features))[0]
            _, sizes, axes = np.linalg.svd(image, full_matrices=False)
            pending = axes.T, 1.0 - 1.0 / np.sqrt(1.0 + sizes**2)
        return self._evolve(_asked=(*self._asked, pending))

    def _rows(self, features: Any) -> Array:
        self.require_features(features.shape[1])
        return np.asarray(as_dense(features), dtype=np.float64)

    def _centre(self, X: Array) -> Array:
        return channel_inputs(self._encoder, self.map[None], X, self._channel)[:, 0]

    def pieces(self, X: Array) -> list[Array]:
        """Rows `(n, d)` in pieces whose jacobians are of moderate size."""
        rows = max(1, PIECE_ENTRIES // (self.dim * len(self._solved().u)))
        return [X[start : start + rows] for start in range(0, len(X), rows)]

    # Inside -----------------------------------------------------------------------------------

    def _solved(self) -> Expansion:  # type: ignore[override]
        self._known_design()
        return self._solution

    def _problem(self, count: int) -> Problem:
        """The labels so far (or the prior, for a count of zero) in units of the prior."""
        q = self._num_parameters()
        if self._prior is None:
            centre, scale = np.zeros(q), np.full(q, self._prior_precision**-0.5)
        else:
            centre = np.atleast_1d(self._prior.mean)
            scale = np.linalg.cholesky(np.atleast_2d(self._prior.covariance))
        held = slice(0, count)
        return Problem(
            self._encoder, self._channel, self.design[held], self._codes[held],
            self._weights[held], centre, scale,
        )  # fmt: skip

    def _num_parameters(self) -> int:
        known = self._encoder.num_parameters
        if known is not None:
            return known
        features = self._encoder.encode(np.zeros((1, self._num_features or 1)))
        return self.dim * features.shape[1]

    def _solve(self, start: Posterior | None, fresh: int) -> Expansion:
        n = len(self.design)
        problem, fixed = self._problem(n), self._fixed
        self._set(_asked=(), _drawn=None, _fixed=None)
        if fixed is not None:
            return self._expanded(problem, fixed)
        if n == 0:
            return self._expansion(problem, expanded(problem, np.zeros(len(problem.centre))))
        before = start._solution.u if isinstance(start, EncodedLaplace) else None
        given = getattr(self._encoder, "start", None)
        if before is None and given is not None:
            before = problem.coordinates(np.asarray(given, dtype=np.float64))
        rng = np.random.default_rng([self._plan[2], n])
        found = best_maximum(problem, before, self._plan[1], rng)
        return self._expansion(problem, found)

    def _expanded(self, problem: Problem, theta: ArrayLike) -> Expansion:
        point = finite_array("theta", theta, ndim=1)
        if len(point) != len(problem.centre):
            rule = f"must have {len(problem.centre)} entries"
            raise InvalidArgument("theta", rule, len(point))
        return self._expansion(problem, expanded(problem, problem.coordinates(point)))

    def _expansion(self, problem: Problem, found: Maximum) -> Expansion:
        spread = found.spread
        evidence = -found.value + spread.log_shrink
        draws = None
        if self._push == "draws":
            rng = np.random.default_rng([self._plan[2], len(problem.rows), 1])
            draws = read_only(self._draws(found.u, spread, self._plan[0], rng))
        return Expansion(
            read_only(found.u), read_only(found.gradient), found.decrement, evidence, spread,
            found.steps, draws,
        )  # fmt: skip

    def _draws(
        self, u: Array, spread: Spread | Factor, count: int, rng: np.random.Generator
    ) -> Array:
        return self._problem(0).theta(u + spread.draw(rng.standard_normal((count, len(u)))))

    def _prior_diagonal(self, num_features: int) -> Array:
        diagonal = np.full(num_features, self._prior_precision)
        diagonal.setflags(write=False)
        return diagonal

    # Saving -----------------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"encoder": self._encoder}

    def state(self) -> dict[str, np.ndarray]:
        state = super().state() | {
            "push": np.array(self._push),
            "plan": np.array(self._plan, dtype=np.int64),
        }
        if self._prior is not None:
            state["prior_mean"] = np.atleast_1d(self._prior.mean)
            state["prior_covariance"] = np.atleast_2d(self._prior.covariance)
        return state

    @classmethod
    def _options(
        cls, state: dict[str, np.ndarray], channel: Any, encoder: Any = None
    ) -> dict[str, Any]:
        prior = None
        if "prior_mean" in state:
            prior = Gaussian(state["prior_mean"], state["prior_covariance"])
        samples, restarts, rng = (int(value) for value in state["plan"])
        return {
            "channel": channel,
            "prior_precision": float(state["prior_precision"]),
            "encoder": encoder,
            "push": str(state["push"]),
            "prior": prior,
            "samples": samples,
            "restarts": restarts,
            "rng": rng,
            "classes": state.get("given"),
        }

    def _solution_state(self) -> dict[str, np.ndarray]:
        return self._solved().arrays()

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Expansion:
        return Expansion.of(state)

    def __repr__(self) -> str:
        seen = f"{self.num_observations} labels" if self.num_observations else "no labels yet"
        prior = f"prior_precision={self._prior_precision:g}" if self._prior is None else "prior=..."
        named = f"encoder={self._encoder!r}, push={self._push!r}"
        return f"Laplace({self._channel!r}, {prior}, {named}; {seen})"
