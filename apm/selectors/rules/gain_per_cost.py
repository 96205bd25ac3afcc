"""Which example to ask whom: information for the money."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.encoders.experts import Chosen
from apm.selectors.base import PoolSelector, Rating, Selector
from apm.selectors.ranking import Indices
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, Seed
from channelcode.measures import EmpiricalPool, GaussianPool, Pool, gaussian_pool


@dataclass(frozen=True)
class GainPerCost(PoolSelector):
    """Ask the pair of example and expert with the most information for its price, in bits.

        score(x, e) = I_e(theta; Y_x) / cost_e

    As the posterior narrows this ranks experts by the Fisher information of their channels over
    their prices, and while it is wide by their capacities: the best expert changes during a run.
    Without experts (any channel but `Chosen`) it is the information gain.

    >>> from apm import Belief, VariationalLogistic
    >>> GainPerCost().scores(Belief(VariationalLogistic(1.0)), [[0.0], [3.0]]).round(4)
    array([0.    , 0.4799])
    """

    resolution = 1e-10  # bits: the accuracy of the integral

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        gain, numbers = expert_gains(belief.channel, laws)
        if numbers is None or not isinstance(belief.channel, Chosen):
            return gain
        return gain / belief.channel.costs[numbers]

    def scores(self, belief: Belief, X: ArrayLike, *, rng: Seed = None) -> Array:
        if not belief.reads_tables:
            return super().scores(belief, X, rng=rng)
        gain = belief.sample_gain(X) / LOG_TWO
        if isinstance(belief.channel, Chosen):
            gain = gain / belief.channel.costs[belief.matrix(X)[:, -1].astype(np.intp)]
        return gain

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        if belief.reads_tables:
            return Selector._rate(self, belief, X, candidates, rng)
        return super()._rate(belief, X, candidates, rng)


def expert_gains(channel: Any, laws: Pool) -> tuple[Array, Any]:
    """I_e(theta; Y) in bits of every pair, `(n,)`, and the numbers of their experts, or None.

    Each expert's laws go through his own channel, on the line by exact integration.
    """
    from channelcode.information import mutual_information

    if not isinstance(channel, Chosen) or not isinstance(laws, GaussianPool | EmpiricalPool):
        return np.asarray(mutual_information(channel, laws).bits), None
    numbers = channel.numbers(np.asarray(laws.mean))
    gain = np.empty(len(laws))
    for expert in np.unique(numbers):
        where = np.flatnonzero(numbers == expert)
        part = laws[where]
        if isinstance(part, EmpiricalPool):
            own: Pool = EmpiricalPool(channel.own_input(expert, part.samples), part.weights)
        else:
            places = list(range(channel.inner_dim))
            if channel.experts[expert].rate_is_unknown:
                places = [0, channel.dim - 1]
            spread = np.asarray(part.covariance)[:, np.array(places)[:, None], places]
            mean = np.asarray(part.mean)[:, places]
            one = len(places) == 1
            own = gaussian_pool(mean[:, 0] if one else mean, spread[:, 0, 0] if one else spread)
        gain[where] = mutual_information(channel.part(expert), own).bits
    return gain, numbers
