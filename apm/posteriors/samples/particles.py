"""Sequential Monte Carlo: draws of the parameters that follow the labels, with the evidence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder
from apm.posteriors.base import Posterior
from apm.posteriors.samples.monte_carlo import Cloud, Target, absorb
from apm.posteriors.samples.priors import log_density, prior_draws, required_dim
from apm.posteriors.samples.weighted import WeightedSamples
from channelcode._validation import Array, Seed, as_generator, integer, read_only
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import Gaussian

FIELDS = ("theta", "log_weights", "log_prior", "log_likelihood")
TALLY = ("log_evidence", "accepted", "proposed", "resamplings")


class Particles(WeightedSamples):
    """Weighted draws of the parameters, moved as the labels come (Chopin, 2002; Del Moral, 2006).

    A label multiplies the weights by its likelihood, in steps p^d so small that the effective
    number of samples stays above half; then the draws are resampled systematically and moved by
    Metropolis steps that leave the law given the labels so far as it is.

    - `prior`: a `Gaussian` (by default standard normal), or an object with `log_density(theta)`
      or `logpdf(theta)` and `sample(count, rng=)` or `rvs(count, random_state=)`. Parameters with
      bounds are best written without them (a logarithm, a logit);
    - `samples`: how many draws; `moves`: Metropolis steps after each resampling;
    - `rng`: a seed. What a label does to the draws follows from the seed and the number of labels
      before it alone: labels one by one or at once, saved and read back, give the same draws.

    `log_evidence` estimates ln p(labels): its exponential is unbiased. `ess` and `acceptance` say
    how the draws are. Modes that no prior draw is near are not found.

    >>> import numpy as np
    >>> from apm import NonLinear
    >>> from channelcode import Logistic
    >>> line = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X - theta[:, 0]), 2)
    >>> posterior = Particles(Logistic(), line, samples=500, rng=0)
    >>> posterior = posterior.update([[0.5], [-1.0]], [1, 0])
    >>> posterior.theta.shape, posterior.ess > 250, -1.5 < posterior.log_evidence < -0.8
    ((500, 2), True, True)
    """

    __slots__ = ("_first", "_moves", "_prior", "_samples", "_seed")
    _first: Cloud
    _moves: int
    _prior: Any
    _samples: int
    _seed: int

    def __init__(
        self,
        channel: Channel,
        encoder: Encoder | None = None,
        prior: Any = None,
        *,
        samples: int = 1000,
        moves: int = 5,
        rng: Seed = 0,
        classes: ArrayLike | None = None,
    ) -> None:
        super().__init__(channel, encoder, classes=classes)
        known = self.encoder.num_parameters
        if prior is None:
            if known is None:
                rule = "must be given with a linear encoder, as Gaussian(mean, covariance)"
                raise InvalidArgument("prior", rule, prior)
            prior = Gaussian(np.zeros(known), np.eye(known))
        if isinstance(rng, np.random.Generator) or rng is None:
            rng = int(as_generator(rng).integers(2**63))
        count, seed = integer("samples", samples, least=2), integer("rng", rng, least=0)
        required_dim(prior, known)
        theta = prior_draws(prior, count, np.random.default_rng([seed, 0]))
        if known is not None and theta.shape[1] != known:
            rule = f"must be a law of the encoder's {known} parameters"
            raise InvalidArgument("prior", rule, f"draws of {theta.shape[1]}")
        self._set(
            _prior=prior,
            _samples=count,
            _moves=integer("moves", moves, least=1),
            _seed=seed,
            _first=Cloud.of_prior(theta, log_density(prior, theta)),
        )

    # What is believed -------------------------------------------------------------------------

    @property
    def prior(self) -> Any:
        """The law of the parameters before any label."""
        return self._prior

    @property
    def theta(self) -> Array:
        """The draws, `(s, q)`."""
        return self._cloud.theta

    @property
    def log_weights(self) -> Array:
        return self._cloud.log_weights

    @property
    def log_evidence(self) -> float:
        """The estimate of ln p(labels) in nats; its exponential is unbiased."""
        return self._cloud.log_evidence

    @property
    def acceptance(self) -> float:
        """The share of Metropolis steps that were accepted so far; NaN if there was none."""
        cloud = self._cloud
        return cloud.accepted / cloud.proposed if cloud.proposed else float("nan")

    @property
    def resamplings(self) -> int:
        """How often the draws were resampled and moved so far."""
        return int(self._cloud.resamplings)

    @property
    def map(self) -> Array:
        """The draw of highest posterior density, `(q,)`."""
        cloud = self._cloud
        return np.array(cloud.theta[int(np.argmax(cloud.log_prior + cloud.log_likelihood))])

    @property
    def _cloud(self) -> Cloud:
        return self._first if self._solution is None else self._solution

    # How labels change it ---------------------------------------------------------------------

    def _solve(self, start: Posterior | None, fresh: int) -> Cloud:
        n = len(self._codes)
        known = isinstance(start, Particles) and start.num_observations == n - fresh
        cloud = start._cloud if known else self._first  # type: ignore[union-attr]
        for label in range(n - fresh if known else 0, n):
            cloud = self._learn(cloud, label)
        return cloud

    def _learn(self, cloud: Cloud, label: int) -> Cloud:
        """The draws after one more label, by the stream of its number."""
        held, own = slice(0, label), slice(label, label + 1)

        def told(theta: Array, rows: slice) -> Array:
            return self.log_likelihood(
                theta, self._known_design()[rows], self._codes[rows], self._weights[rows]
            )

        target = Target(
            log_prior=lambda theta: log_density(self._prior, theta),
            past=lambda theta: told(theta, held),
            new=lambda theta: told(theta, own),
        )
        rng = np.random.default_rng([self._seed, label + 1])
        after = absorb(cloud, target, rng, self._moves)
        if after is None:
            rule = "must be possible: under every draw that has weight the label is not"
            raise InvalidArgument("y", rule, self.classes_[self._codes[own]].tolist())
        return after

    # Saving -----------------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        own = {} if isinstance(self._prior, Gaussian) else {"prior": self._prior}
        return super().parts() | own

    def _solution_state(self) -> dict[str, np.ndarray]:
        cloud = self._cloud
        tally = {"tally": np.array([getattr(cloud, name) for name in TALLY])}
        return {name: getattr(cloud, name) for name in FIELDS} | tally

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Cloud:
        arrays = {name: read_only(state[name]) for name in FIELDS}
        tally = dict(zip(TALLY, state["tally"].tolist(), strict=True))
        return Cloud._make((arrays | tally)[name] for name in Cloud._fields)

    def state(self) -> dict[str, np.ndarray]:
        plan = np.array([self._samples, self._moves, self._seed], dtype=np.int64)
        arrays = super().state() | {"plan": plan}
        if isinstance(self._prior, Gaussian):
            arrays["prior_mean"] = np.atleast_1d(self._prior.mean)
            arrays["prior_covariance"] = np.atleast_2d(self._prior.covariance)
        return arrays

    @classmethod
    def _options(
        cls, state: dict[str, np.ndarray], channel: Any, encoder: Any = None, prior: Any = None
    ) -> dict[str, Any]:
        if prior is None:
            prior = Gaussian(state["prior_mean"], state["prior_covariance"])
        samples, moves, seed = (int(value) for value in state["plan"])
        return {
            "channel": channel,
            "encoder": encoder,
            "prior": prior,
            "samples": samples,
            "moves": moves,
            "rng": seed,
            "classes": state.get("given"),
        }

    def sample(self, count: int, *, rng: Seed = None) -> Array:
        """Draws of the parameters with equal weights, `(count, q)`."""
        number = integer("count", count, least=1)
        return self.theta[as_generator(rng).choice(len(self.theta), number, p=self.weights)]

    def with_samples(self, samples: int) -> Self:
        """The same posterior with another number of draws, learnt anew from its labels."""
        options: dict[str, Any] = self._options(self.state(), **self.parts())
        options["samples"] = samples
        new = type(self)(**options)
        if self.num_observations == 0:
            return new
        return new.fit(self.design, self.classes_[self._codes], self._weights)
