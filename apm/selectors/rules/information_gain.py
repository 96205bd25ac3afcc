"""Information gain: how many bits a label tells about the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.pools.inputs import as_list
from apm.selectors.base import PoolSelector, Rating, Selector
from apm.selectors.class_draws import PIECE, class_inputs, class_major, softmax_gain
from apm.selectors.draws import by_draws, drawn_inputs, gives_samples, parameter_draws
from apm.selectors.ranking import Indices
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, Seed, as_generator, integer
from channelcode.channels import Channel, Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool

SAMPLED = 1e-14  # bits: finite sums, exact to rounding


@dataclass(frozen=True)
class InformationGain(PoolSelector):
    """Ask where the label tells most: `I(theta; Y) = H(E p(Y|L)) - E H(Y|L)` in bits.

    `InformationGain()` integrates over the induced law of each candidate (exact on the line to
    about 1e-10 bits). `InformationGain(samples=100)` is the paper's Monte Carlo form with
    draws of theta shared by all candidates, eq. (infogainMC).

    On a `Grid`, `about=[0]` asks for what the label tells about the first parameter alone, the
    others being nuisance: I(theta_0; Y) = H(Y) - E H(E[p(Y|L) | theta_0]). A batch on a posterior
    made of samples takes each row for what it tells beyond the labels of those before it.

    >>> from apm import Belief, VariationalLogistic
    >>> InformationGain().scores(Belief(VariationalLogistic(1.0)), [[0.0], [3.0]]).round(4)
    array([0.    , 0.4799])
    """

    samples: int | None = None
    about: Any = field(default=None, kw_only=True)
    resolution = 1e-10  # bits: the accuracy of the integral
    by_row = True

    def __post_init__(self) -> None:
        if self.samples is not None:
            integer("samples", self.samples, least=2)
        if self.about is None:
            return
        if self.samples is not None:
            raise InvalidArgument("samples", "must be None where about is given", self.samples)
        listed = as_list(self.about, "about")
        places = tuple(sorted({integer("about", place, least=0) for place in listed}))
        if not places:
            raise InvalidArgument("about", "must name a parameter, or be None for all", self.about)
        object.__setattr__(self, "about", places)

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        return _exact_gain(belief.channel, laws)

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        if self._reads_tables(belief):
            return belief.sample_gain(X, self.about) / LOG_TWO
        if self.samples is None:
            return super().scores(belief, X, rng=rng)
        return sampled_gain(belief, X, self.samples, as_generator(rng))

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        if self.samples is None and not self._reads_tables(belief):
            return super()._rate(belief, X, candidates, rng)
        return Selector._rate(self, belief, X, candidates, rng)

    def _resolution(self, belief: Belief, rows: int) -> float:
        return SAMPLED if self._reads_tables(belief) else self.resolution

    def _reads_tables(self, belief: Belief) -> bool:
        """Whether the posterior is made of samples, whose labels it keeps in tables."""
        if belief.reads_tables:
            return self.samples is None
        if self.about is not None:
            rule = (
                "must be None: the information about some parameters alone needs a Grid, where "
                "each of their values comes with all values of the others; no two draws share one"
            )
            raise InvalidArgument("about", rule, list(self.about))
        return False


def _exact_gain(channel: Channel, laws: Pool) -> Array:
    from channelcode.information import mutual_information

    return np.asarray(mutual_information(channel, laws).bits)


def sampled_gain(belief: Belief, X: Any, samples: int, rng: np.random.Generator) -> Array:
    """Information gain in bits from posterior draws, `(n,)`: eq. (infogainMC) for any channel.

    A posterior known by its samples uses those, with their weights. In a regression there is
    nothing to sample: the gain is in closed form.
    """
    if not belief.posterior.has_classes:
        return _exact_gain(belief.channel, belief.push(X))
    belief = by_draws(belief.sized(X), samples, rng)
    if gives_samples(belief, X):
        laws: Any = belief.push(X)
        if laws.equally_weighted:
            return empirical_gain(belief.channel, laws.samples)
        return _exact_gain(belief.channel, laws)
    if type(belief.channel) is Softmax:
        return _softmax_gain(belief, X, samples, rng)
    pieces = [
        empirical_gain(belief.channel, inputs) for inputs in drawn_inputs(belief, X, samples, rng)
    ]
    return np.concatenate(pieces)


def _softmax_gain(belief: Belief, X: Any, samples: int, rng: np.random.Generator) -> Array:
    matrix = belief.matrix(X)
    belief = belief.sized(matrix)
    theta = class_major(parameter_draws(belief, samples, rng))
    rows = max(1, PIECE // (len(theta) * samples))
    pieces = [
        softmax_gain(class_inputs(belief, matrix[start : start + rows], theta))
        for start in range(0, len(matrix), rows)
    ]
    return np.concatenate(pieces) / LOG_TWO


def empirical_gain(channel: Channel, inputs: Array) -> Array:
    """I(L; Y) in bits for L uniform on `inputs`, `(n, s)` or `(n, s, k)`; shape `(n,)`."""
    if type(channel) is Logistic:
        from apm._kernels.sampled_gain import logistic_gain

        return logistic_gain(np.ascontiguousarray(inputs)) / LOG_TWO
    log_prob = channel.log_prob(inputs)
    with np.errstate(under="ignore"):
        prob = np.exp(log_prob)
    within = -plogp_sum(prob, log_prob).mean(axis=1)
    average = prob.mean(axis=1)
    with np.errstate(divide="ignore"):
        across = -plogp_sum(average, np.log(average))
    # I >= 0 by Jensen; both terms round at 1e-16
    return np.maximum(across - within, 0.0) / LOG_TWO


def plogp_sum(prob: Array, log_prob: Array) -> Array:
    """sum_y p ln p along the last axis, with 0 ln 0 = 0."""
    with np.errstate(invalid="ignore", under="ignore"):
        terms = prob * log_prob
    return np.where(prob == 0, 0.0, terms).sum(axis=-1)
