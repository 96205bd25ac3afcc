"""BALD: Houlsby's closed approximation of information gain."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from apm.belief import Belief
from apm.selectors.base import PoolSelector, Rating, Selector
from apm.selectors.ranking import Indices
from apm.selectors.rules.information_gain import sampled_gain
from channelcode._numerics.logspace import LOG_TWO, plogp
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.channels import Channel, Logistic, Probit
from channelcode.measures import Pool, ScalarPool

SLOPE = sqrt(pi / 8.0)  # f(l) ~ Phi(k l), equal derivatives at zero
WIDTH = pi * log(2.0) / 2.0  # D^2: h_b(Phi(l)) ~ exp(-l^2 / (pi ln 2))


@dataclass(frozen=True)
class BALD(PoolSelector):
    """Houlsby's approximation of information gain in bits, eq. (BALDfinal) of the paper.

    `h_b(Phi(k mu / sqrt(k^2 s + 1))) - D exp(-k^2 mu^2 / (2 (k^2 s + D^2))) / sqrt(k^2 s + D^2)`
    with s = sigma^2, D^2 = pi ln 2 / 2 and k^2 = pi / 8 for the logistic channel (1 / scale^2 for
    the probit). Other channels and laws have no such form: `samples` posterior draws instead, as
    BALD is understood for K classes.

    >>> from apm import Belief, VariationalLogistic
    >>> BALD().scores(Belief(VariationalLogistic(1.0)), [[0.0], [3.0]]).round(4)
    array([0.    , 0.5147])
    """

    samples: int = 100
    by_row = True

    def __post_init__(self) -> None:
        integer("samples", self.samples, least=2)

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        return closed_gain(laws, _slope(belief.channel))  # type: ignore[arg-type]

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        if self._closed(belief):
            return super().scores(belief, X, rng=rng)
        return sampled_gain(belief, X, self.samples, as_generator(rng))

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        if self._closed(belief):
            return super()._rate(belief, X, candidates, rng)
        return Selector._rate(self, belief, X, candidates, rng)

    @staticmethod
    def _closed(belief: Belief) -> bool:
        from apm.posteriors import EncodedLaplace
        from apm.posteriors.gaussian import ScalarGaussian

        posterior = belief.posterior
        gaussian = isinstance(posterior, ScalarGaussian | EncodedLaplace)
        gaussian = gaussian and posterior.dim == 1 and not posterior.gives_samples
        return gaussian and type(belief.channel) in (Logistic, Probit)


def _slope(channel: Channel) -> float:
    return 1.0 / channel.scale if isinstance(channel, Probit) else SLOPE


def closed_gain(laws: ScalarPool, slope: float) -> Array:
    """Eq. (BALDfinal) for Gaussian inputs and the channel Phi(slope l), in bits, `(n,)`."""
    mean = slope * laws.mean
    variance = slope**2 * laws.variance
    z = mean / np.sqrt(variance + 1.0)
    entropy = -(plogp(log_ndtr(z)) + plogp(log_ndtr(-z))) / LOG_TWO
    with np.errstate(under="ignore"):
        noise = np.sqrt(WIDTH / (variance + WIDTH)) * np.exp(-(mean**2) / (2 * (variance + WIDTH)))
    return entropy - noise
