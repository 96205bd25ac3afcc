"""The effective channel: from the prediction at a target, through a candidate, to its label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.selectors.matching.explained_variance import explained_share
from apm.selectors.matching.input_noise import NoisyInput, bend, noise_table
from apm.selectors.matching.target import target_input
from apm.selectors.matching.views import ChannelChoice, View
from channelcode._validation import Array
from channelcode.channels import Channel, Logistic, Probit
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Pool, ScalarPool, ScaledPool

SPARSE = 4  # a target is solved at every fourth noise level of the table
CHUNK_ENTRIES = 1 << 20  # candidate and target pairs at a time: eight mebibytes


@dataclass(frozen=True)
class Moments:
    """Averages over targets for each candidate, `(n,)` each: E k^2, E k^2 rho^2, E k rho, E k."""

    square: Array
    shared: Array
    linear: Array
    slope: Array


@dataclass(frozen=True)
class EffectiveChannel:
    """Candidates seen from targets x* (theory of the effective channel).

    With `rho^2` the part of the variance of L that the logits F at x* explain, what is not about F
    is noise of variance `sigma^2 (1 - rho^2)` in front of the channel. That channel has the slope
    `k = 1 / sqrt(1 + b sigma^2 (1 - rho^2))`, and in its own units its input is
    `N(k m, k^2 sigma^2 rho^2)`. `exact` uses the blurred channel itself: its true slope, and the
    target that achieves its capacity at the same budget. `pooled` replaces the average over
    targets of the score by the score at the average share, `rho^2 <- E_x*[rho^2]`: one effective
    channel from the logits at a random target.
    """

    belief: Belief
    view: View
    rows: Any
    targets: Any
    weights: Array
    exact: bool = False
    pooled: bool = False

    @property
    def counts(self) -> Array:
        """The weights of the columns that `shares` yields."""
        return np.ones(1) if self.pooled else self.weights

    def shares(self) -> Iterator[tuple[slice, Array]]:
        """rho^2 in pieces: the rows of the piece, and `(rows, t)` (one column if pooled)."""
        count = max(1, CHUNK_ENTRIES // len(self.targets))
        view = self.view
        for start in range(0, len(self.rows), count):
            part = slice(start, start + count)
            pairs = None if view.pairs is None else view.pairs[part]
            piece = View(view.channel, view.laws[part], pairs, view.gain)
            share = explained_share(self.belief, self.rows[part], self.targets, piece)
            if self.pooled:
                share = np.minimum(share @ self.weights, 1.0)[:, None]
            yield part, share

    def moments(self) -> tuple[Moments, tuple[Array, Array] | None]:
        """The averages over targets, and the table of slopes where no formula gives them."""
        variance = noise_variance(self.view)
        known = None if self.exact else bend(scalar_channel(self.view))
        totals = np.empty((4, len(self.rows)))
        if known is not None:
            from apm._kernels.multiclass_effective import slope_moments

            for part, share in self.shares():
                totals[:, part] = slope_moments(share, self.counts, variance[part], known)
            return Moments(*totals), None
        table = noise_table(scalar_channel(self.view), float(np.sqrt(variance.max())))
        for part, share in self.shares():
            k = slopes_at(share, variance[part], table)
            root = np.sqrt(share)
            pieces = (k * k, k * k * share, k * root, k)
            totals[:, part] = [piece @ self.counts for piece in pieces]
        return Moments(*totals), table

    def laws(self, moments: Moments) -> ScalarPool:
        """Laws whose E|L|^2 is the power of each candidate in its channel's own units."""
        squared = self.view.laws.second_moment - self.view.laws.total_variance
        variance = moments.shared * self.view.laws.total_variance
        return ScalarPool(np.sqrt(np.maximum(moments.square * squared, 0.0)), variance)

    def costs(self, moments: Moments, table: Any, power: float, *, solver: Any = None) -> Array:
        """W2^2 to the target at the budget `power`, averaged over targets x*, `(n,)`."""
        channel, laws = self.view.channel, self.view.laws
        if self.exact and channel.dim == 1 and type(channel) not in (Logistic, Probit):
            return self._exact_costs(table, power, solver)
        target = target_input(channel, power, solver=solver).input
        constant = correlation(laws, target)
        power_of_mean = laws.second_moment - laws.total_variance
        centre = np.asarray(target.mean)
        along = laws.mean * centre if laws.dim == 1 else laws.mean @ centre
        spread = np.sqrt(laws.total_variance)
        return (
            moments.square * power_of_mean
            - 2.0 * moments.slope * along
            + moments.shared * laws.total_variance
            + target.second_moment
            - 2.0 * moments.linear * spread * constant
        )

    def _exact_costs(self, table: Any, power: float, solver: Any) -> Array:
        """The same with a target for each noise level, between whose constants we interpolate."""
        from channelcode.transport.line import line_constant

        levels, ratios = (column[::SPARSE] for column in table)
        constants = np.empty((len(levels), 3))
        for place, (level, k) in enumerate(zip(levels, ratios, strict=True)):
            blurred = NoisyInput(self.view.channel, float(level))
            target = target_input(blurred, power / k**2, solver=solver).input
            rho = line_constant(target.atoms, target.weights)
            constants[place] = k * target.mean, k * rho, k**2 * target.second_moment
        laws, cost = self.view.laws, np.empty(len(self.rows))
        variance = laws.total_variance
        for part, share in self.shares():
            k = slopes_at(share, variance[part], table)
            place = np.arcsinh(np.sqrt(variance[part, None] * (1.0 - share)))
            grid = np.arcsinh(levels)
            mean, rho, second = (np.interp(place, grid, column) for column in constants.T)
            spread = k * np.sqrt(variance[part, None] * share)
            centre = k * laws.mean[part, None]
            terms = centre**2 - 2 * centre * mean + second + spread**2 - 2 * spread * rho
            cost[part] = terms @ self.counts
        return cost


def slopes_at(share: Array, variance: Array, table: tuple[Array, Array]) -> Array:
    """k for every candidate and target by interpolation in asinh of the noise level."""
    levels, ratios = table
    noise = np.sqrt(variance[:, None] * (1.0 - share))
    return np.interp(np.arcsinh(noise), np.arcsinh(levels), ratios)


def scalar_channel(view: View) -> Channel:
    """The scalar channel whose slope counts: a softmax bends like the logistic of two logits."""
    return view.channel if view.channel.dim == 1 else Logistic()


def noise_variance(view: View) -> Array:
    """The variance of the input on the scale of `scalar_channel`, `(n,)`.

    On the line that of the input; for a softmax that of a difference of two logits, averaged over
    all pairs: `2 tr S / (K - 1)` for centred logits.
    """
    variance = view.laws.total_variance
    return variance if view.laws.dim == 1 else 2.0 * variance / (view.laws.dim - 1)


def correlation(laws: Pool, target: DiscreteMeasure) -> float:
    """max E<L, T> over couplings, for centred laws with total variance one."""
    from channelcode.transport import w2_squared

    if laws.dim == 1:
        unit: Pool = ScalarPool([0.0], [1.0])
    elif isinstance(laws, ScaledPool):
        unit = ScaledPool(np.zeros((1, laws.dim)), [1.0 / np.trace(laws.shape)], laws.shape)
    else:
        rule = "must be ContestedPair(), or the posterior's covariance Kronecker (Bohning)"
        raise InvalidArgument("channel", rule, laws)
    spread = target.second_moment - float(np.sum(np.square(target.mean)))
    centred = float(w2_squared(unit, target)[0]) - float(np.sum(np.square(target.mean)))
    return 0.5 * (1.0 + spread - centred)


def stakes(choice: ChannelChoice, belief: Belief, targets: Any) -> Array:
    """Weights of the targets: the entropy of each one's label in its own channel, normalised.

    A prediction that is settled has nothing left to be told. The label's law is taken at `k m`,
    with k the slope that the posterior variance leaves; `(t,)`, sum one.
    """
    view = choice.view(belief, belief.push(targets))
    channel, variance = scalar_channel(view), noise_variance(view)
    known = bend(channel)
    if known is not None:
        k = 1.0 / np.sqrt(1.0 + known * variance)
    else:
        levels, ratios = noise_table(channel, float(np.sqrt(variance.max())))
        k = np.interp(np.arcsinh(np.sqrt(variance)), np.arcsinh(levels), ratios)
    mean = view.laws.mean
    entropy = view.channel.conditional_entropy(k * mean if mean.ndim == 1 else k[:, None] * mean)
    total = entropy.sum()
    return entropy / total if total > 0 else np.full(len(entropy), 1.0 / len(entropy))
