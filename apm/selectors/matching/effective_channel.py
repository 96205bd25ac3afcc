"""The effective channel: from the prediction at a target, through a candidate, to its label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.pools.inputs import is_sparse
from apm.posteriors import Bohning
from apm.posteriors.gaussian import ScalarGaussian
from apm.power import Candidates, PowerPolicy
from apm.selectors.matching.explained_variance import explained_share, kept_shares
from apm.selectors.matching.input_noise import NoisyInput, bend, noise_table
from apm.selectors.matching.target import (
    Match,
    along,
    power_of_mean,
    target_input,
    unit_correlation,
)
from apm.selectors.matching.views import ChannelChoice, View
from channelcode._validation import Array
from channelcode.channels import AdditiveGaussian, Channel, Logistic
from channelcode.channels.densities.range import has_density
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Pool, ScalarPool, ScaledPool

NOT_KRONECKER = "must be ContestedPair(), or the posterior's covariance Kronecker (Bohning)"
SPARSE = 4  # a target is solved at every fourth noise level of the table
CHUNK_ENTRIES = 1 << 20  # candidate and target pairs at a time: eight mebibytes


@dataclass(frozen=True)
class Moments:
    """Averages over targets for each candidate, `(n,)` each.

    E k^2, E k^2 rho^2, E k rho, E k and E rho^2, with k the slope of the effective channel.
    """

    square: Array
    signal: Array
    linear: Array
    slope: Array
    share: Array


@dataclass(frozen=True)
class EffectiveChannel:
    """Candidates seen from targets x* (theory of the effective channel).

    With `rho^2` the part of the variance of L that the logits F at x* explain, what is not about F
    is noise of variance `sigma^2 (1 - rho^2)` in front of the channel. That channel has the slope
    `k = 1 / sqrt(1 + b sigma^2 (1 - rho^2))`, and in its own units its input is
    `N(k m, k^2 sigma^2 rho^2)`. `exact` uses the noisy channel itself: its true slope, and the
    target that achieves its capacity at the same budget. `pooled` replaces the average over
    targets of the score by the score at the average share, `rho^2 <- E_x*[rho^2]`: one effective
    channel from the logits at a random target.

    X is the pool, `candidates` the rows of it that `view` holds (None: all). `known` are the
    average shares of the candidates `(n,)`, where they were found before (`PooledForm`).
    """

    belief: Belief
    view: View
    X: Any
    candidates: Any
    targets: Any
    weights: Array
    exact: bool = False
    pooled: bool = False
    known: Array | None = None

    @property
    def counts(self) -> Array:
        """The weights of the columns that `shares` yields."""
        return np.ones(1) if self.pooled else self.weights

    def shares(self) -> Iterator[tuple[slice, Array]]:
        """rho^2 in pieces: the rows of the piece, and `(rows, t)` (one column if pooled)."""
        view, chosen = self.view, self.candidates
        if self.known is not None:
            yield slice(None), self.known[:, None]
            return
        average = self.weights if self.pooled else None
        kept = kept_shares(self.belief, self.X, chosen, self.targets, average)
        if kept is not None:
            yield from kept
            return
        every = len(view.laws) == len(self.X)
        if is_sparse(self.X) and isinstance(self.belief.posterior, ScalarGaussian | Bohning):
            # as a whole: the posterior remembers what it knows of a sparse matrix
            share = explained_share(self.belief, self.X, self.targets, view)
            share = share if every else share[chosen]
            if self.pooled:
                share = np.minimum(share @ self.weights, 1.0)[:, None]
            yield slice(None), share
            return
        count = max(1, CHUNK_ENTRIES // len(self.targets))
        for start in range(0, len(view.laws), count):
            part = slice(start, start + count)
            rows = self.X[part] if every else self.X[chosen[part]]  # never a copy of the pool
            pairs = None if view.pairs is None else view.pairs[part]
            piece = View(view.channel, view.laws[part], pairs, view.gain)
            share = explained_share(self.belief, rows, self.targets, piece)
            if self.pooled:
                share = np.minimum(share @ self.weights, 1.0)[:, None]
            yield part, share

    @cached_property
    def slopes(self) -> tuple[Array, Array] | None:
        """The table of slopes by noise, where no formula gives them."""
        channel = scalar_channel(self.view)
        exact = self.exact and type(channel) is not AdditiveGaussian  # whose formula is exact
        if not exact and bend(channel) is not None:
            return None
        largest = float(np.sqrt(noise_variance(self.view).max()))
        return noise_table(channel, largest)

    @cached_property
    def moments(self) -> Moments:
        """The averages over targets."""
        variance = noise_variance(self.view)
        totals = np.empty((5, len(variance)))
        if self.slopes is None:
            from apm._kernels.multiclass_effective import slope_moments

            known = bend(scalar_channel(self.view))
            for part, share in self.shares():
                totals[:, part] = slope_moments(share, self.counts, variance[part], known)
            return Moments(*totals)
        for part, share in self.shares():
            k = slopes_at(share, variance[part], self.slopes)
            root = np.sqrt(share)
            pieces = (k * k, k * k * share, k * root, k, share)
            totals[:, part] = [piece @ self.counts for piece in pieces]
        return Moments(*totals)

    @cached_property
    def laws(self) -> Pool:
        """Laws with the power of each candidate in its channel's own units, and its signal.

        If pooled they are the input's laws themselves, `N(k m, k^2 sigma^2 R^2)`.
        """
        moments, own = self.moments, self.view.laws
        mean = moments.slope if self.pooled else np.sqrt(moments.square)
        if own.dim == 1:
            return ScalarPool(mean * own.mean, moments.signal * own.total_variance)
        if not isinstance(own, ScaledPool):
            raise InvalidArgument("channel", NOT_KRONECKER, type(own).__name__)
        return ScaledPool(mean[:, None] * own.mean, moments.signal * own.scale, own.shape)

    def budget(self, policy: PowerPolicy, X: Any, *, radius: float | None) -> float:
        """The budget P of a policy in the units of the effective channel."""
        view = self.view
        share = self.moments.share
        return policy.amount(
            Candidates(self.belief, X, radius, self.laws, view.gain, view.channel, view.laws, share)
        )

    def match(self, power: float, *, solver: Any = None) -> Match:
        """The distance to the target at the budget `power`, averaged over targets x*."""
        channel, laws = self.view.channel, self.view.laws
        known = unit_correlation(channel)
        if self.exact and channel.dim == 1 and known is None:
            return self._exact_match(power, solver)
        moments, variance = self.moments, laws.total_variance
        centre = moments.square * power_of_mean(laws)
        if solver is None and known is not None and laws.dim == 1:
            constant, own, offset = known * sqrt(power), power, 0.0
        else:
            target = target_input(channel, power, solver=solver).input
            centre = centre - 2.0 * moments.slope * along(laws, target)
            constant, own = correlation(laws, target), target.second_moment
            offset = float(np.sum(np.square(target.mean)))
        spread = moments.signal * variance - 2.0 * constant * moments.linear * np.sqrt(variance)
        by_target = None if self.pooled else self.by_target
        return Match(channel, self.laws, power, centre, spread, own, offset, by_target)

    def by_target(self, place: int) -> tuple[Pool, Array]:
        """The laws of one candidate's input as each target sees it, and the targets' weights."""
        row = place if self.candidates is None else self.candidates[place]
        view = self.view
        pairs = None if view.pairs is None else view.pairs[place : place + 1]
        own = view.laws[place : place + 1]
        one = View(view.channel, own, pairs, view.gain)
        share = explained_share(self.belief, self.X[row : row + 1], self.targets, one)
        variance = noise_variance(one)
        if self.slopes is None:
            k = 1.0 / np.sqrt(1.0 + (bend(scalar_channel(view)) or 0.0) * variance * (1.0 - share))
        else:
            k = slopes_at(share, variance, self.slopes)
        k, share = k[0], share[0]
        if own.dim == 1:
            laws: Pool = ScalarPool(k * own.mean, k**2 * share * own.total_variance)
        else:
            laws = ScaledPool(k[:, None] * own.mean, k**2 * share * own.scale, own.shape)  # type: ignore[attr-defined]
        return laws, self.weights

    def _exact_match(self, power: float, solver: Any) -> Match:
        """The same with a target for each noise level, between whose constants we interpolate."""
        table = noise_table(self.view.channel, 0.0) if self.slopes is None else self.slopes
        levels, ratios = (column[::SPARSE] for column in table)
        constants = np.empty((len(levels), 3))
        laws = self.view.laws
        for place, (level, k) in enumerate(zip(levels, ratios, strict=True)):
            noisy = NoisyInput(self.view.channel, float(level))
            target = target_input(noisy, power / k**2, solver=solver).input
            rho = correlation(laws, target)
            constants[place] = k * target.mean, k * rho, k**2 * target.second_moment
        centre, spread = np.empty(len(laws)), np.empty(len(laws))
        variance = laws.total_variance
        for part, share in self.shares():
            k = slopes_at(share, variance[part], table)
            place = np.arcsinh(np.sqrt(variance[part, None] * (1.0 - share)))
            grid = np.arcsinh(levels)
            mean, rho, second = (np.interp(place, grid, column) for column in constants.T)
            deviation = k * np.sqrt(variance[part, None] * share)
            away = k * laws.mean[part, None] - mean
            centre[part] = away**2 @ self.counts
            terms = deviation**2 - 2 * deviation * rho + second - mean**2
            spread[part] = terms @ self.counts
        return Match(None, None, power, centre, spread, 0.0)


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
        raise InvalidArgument("channel", NOT_KRONECKER, type(laws).__name__)
    size = sqrt(target.second_moment)
    if size == 0:
        return 0.0
    # proportional to the target: at the size of the unit law nothing cancels
    near = target.transform(1.0 / size)
    return 0.5 * size * (1.0 + near.second_moment - float(w2_squared(unit, near)[0]))


def remaining_slope(view: View) -> Array:
    """k, the slope that is left of the channel if all of an input's variance is noise, `(n,)`."""
    channel, variance = scalar_channel(view), noise_variance(view)
    known = bend(channel)
    if known is not None:
        return 1.0 / np.sqrt(1.0 + known * variance)
    table = noise_table(channel, float(np.sqrt(variance.max())))
    return slopes_at(np.zeros((len(variance), 1)), variance, table)[:, 0]


def stakes(choice: ChannelChoice, belief: Belief, X: Any, targets: Any) -> Array:
    """Weights of the targets: the entropy of each one's label in its own channel, normalised.

    A prediction that is settled has nothing left to be told. The label's law is taken at `k m`,
    with k the slope that the posterior variance leaves; `(t,)`, sum one. In a regression the
    entropy of a label is the same everywhere, and the weights are the variances of the
    predictions: the largest signal of one effective channel is then the I-optimal design.
    """
    forms = belief.forms(X)
    kept = None if forms is None else forms.watch(targets)
    if kept is None:
        laws = belief.push(targets)
    else:
        laws = belief.posterior.pool((kept.mean, kept.leverage))
    view = choice.view(belief, laws)
    if has_density(view.channel):
        worth = view.laws.total_variance
    else:
        k, mean = remaining_slope(view), view.laws.mean
        worth = view.channel.conditional_entropy(k * mean if mean.ndim == 1 else k[:, None] * mean)
    total = worth.sum()
    return worth / total if total > 0 else np.full(len(worth), 1.0 / len(worth))
