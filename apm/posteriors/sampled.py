"""The exact posterior of logistic regression, by Polya-Gamma Gibbs sampling."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from apm.pools.inputs import Matrix
from apm.posteriors.base import Posterior, PriorOptions
from channelcode._validation import Array, Seed, as_generator, integer, read_only
from channelcode.channels import Channel, Logistic
from channelcode.errors import InvalidArgument, MissingExtra
from channelcode.measures import EmpiricalPool, Pool


class Solution(NamedTuple):
    """The draws of theta, `(s, q)`."""

    samples: Array


class Sampled(Posterior):
    """Draws of theta from the posterior itself: the reference for the approximations.

    Polya-Gamma Gibbs (Polson, Scott and Windle, 2013): with omega_i ~ PG(s_i, x_i'theta),

        theta | omega ~ N(V X'h, V),   V^-1 = diag(precision) + X' diag(omega) X,   h = s (y - 1/2).

    `samples` draws are kept after `burn_in` sweeps, every `thin`-th. `push` gives an
    `EmpiricalPool`. The chain is a function of the data and the seed `rng` alone; a refit starts
    from the last draw. Needs the package `polyagamma` (extra `sampling`).
    """

    __slots__ = ("_burn_in", "_channel", "_samples", "_seed", "_thin")
    _channel: Channel
    _samples: int
    _burn_in: int
    _thin: int
    _seed: int

    def __init__(
        self,
        channel: Channel | None = None,
        prior_precision: float = 0.01,
        *,
        samples: int = 1000,
        burn_in: int = 500,
        thin: int = 2,
        rng: Seed = 0,
        **options: Unpack[PriorOptions],
    ) -> None:
        channel = Logistic() if channel is None else channel
        if type(channel) is not Logistic:
            raise InvalidArgument(
                "channel", "must be Logistic(): no other has this sampler", channel
            )
        if isinstance(rng, np.random.Generator) or rng is None:
            rng = int(as_generator(rng).integers(2**63))
        self._set(
            _channel=channel,
            _samples=integer("samples", samples, least=2),
            _burn_in=integer("burn_in", burn_in, least=0),
            _thin=integer("thin", thin, least=1),
            _seed=integer("rng", rng, least=0),
        )
        super().__init__(prior_precision, **options)

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def samples(self) -> Array:
        """The draws of theta, `(s, q)`."""
        self._known_design()
        return self._solution.samples

    @property
    def mean(self) -> Array:
        """The mean of the draws, `(q,)`."""
        return self.samples.mean(axis=0)

    @property
    def covariance(self) -> Array:
        """The covariance of the draws, `(q, q)`."""
        centred = self.samples - self.mean
        return centred.T @ centred / len(centred)

    @property
    def summed_covariance(self) -> Array:
        return self.covariance

    @property
    def map(self) -> Array:
        """The most probable weights, `(q,)`, by Newton (not from the draws)."""
        if "map" not in self._cache:
            from apm.posteriors.fitting.maximum import maximise

            found = maximise(
                self._channel,
                self.design,
                codes=self._codes,
                weights=self._weights,
                precision=self._precision,
                start=None,
            )
            found.weights.setflags(write=False)
            self._cache["map"] = found.weights[0]
        return self._cache["map"]

    def project(self, features: Matrix) -> tuple[Array, ...]:
        count = features.shape[1]
        self.require_features(count)
        samples = self.samples.astype(features.dtype, copy=False)
        inputs = features @ samples[:, :count].T
        if self.intercept:
            inputs += samples[:, count]
        return (inputs,)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return EmpiricalPool(*arrays)

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        n, q = self.design.shape
        rng = np.random.default_rng([self._seed, n])
        deviation = 1.0 / np.sqrt(self._precision)
        if n == 0:
            samples = deviation * rng.standard_normal((self._samples, q))
        else:
            theta = start.samples[-1] if isinstance(start, Sampled) else np.zeros(q)
            samples = self._sweep(np.array(theta), rng)
        samples.setflags(write=False)
        return Solution(samples)

    def _sweep(self, theta: Array, rng: np.random.Generator) -> Array:
        try:
            import polyagamma
        except ImportError:
            raise MissingExtra("polyagamma", "sampling") from None
        from scipy.linalg import solve_triangular

        draw: Any = polyagamma.random_polyagamma
        active = self._weights > 0
        X, weights = self.design[active], self._weights[active]
        pull = X.T @ (weights * (self._codes[active] - 0.5))
        prior = np.diag(self._precision)
        kept = np.empty((self._samples, len(theta)))
        for sweep in range(self._burn_in + self._samples * self._thin):
            omega = np.empty(0)
            if len(X):
                omega = draw(weights, X @ theta, random_state=rng)
            upper = np.linalg.cholesky(prior + (X.T * omega) @ X).T
            half = solve_triangular(upper, pull, trans=1)
            theta = solve_triangular(upper, half + rng.standard_normal(len(theta)))
            place, rest = divmod(sweep - self._burn_in, self._thin)
            if place >= 0 and rest == self._thin - 1:
                kept[place] = theta
        return kept

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {"samples": self.samples}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        return Solution(read_only(state["samples"]))

    def state(self) -> dict[str, np.ndarray]:
        plan = np.array([self._samples, self._burn_in, self._thin, self._seed], dtype=np.int64)
        return super().state() | {"plan": plan}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        names = ("samples", "burn_in", "thin", "rng")
        plan = dict(zip(names, (int(v) for v in state["plan"]), strict=True))
        return super()._options(state, channel) | plan
