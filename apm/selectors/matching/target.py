"""The target of posterior matching: the capacity-achieving input at a power budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi, sqrt
from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import AdditiveGaussian, Channel, Logistic, Probit
from channelcode.measures import DiscreteMeasure, Pool, ScalarPool

# E|Z| of a standard normal: the correlation of a Gaussian with the two atoms of B_1.
TWO_ATOMS = sqrt(2.0 / pi)
FAR = 1e6  # a target of that many times the power of every law is shrunk for the transport


@dataclass(frozen=True)
class Match:
    """W2^2 of the candidates' laws to one target T, in parts; `laws` and T live on `channel`.

        W2^2 = centre + spread + constant

    - `centre` `(n,)`: `|m|^2 - 2 <m, m_T>`, the part of the means;
    - `spread` `(n,)`: `tr S - 2 max E<L - m, T - m_T>`, the part of the deviations;
    - `constant`: E|T|^2, the same for all candidates. Beside a large one the parts would drown in
      rounding, so candidates are compared by `values`, which leave it out;
    - `offset`: `|m_T|^2`, which the first term of an explanation takes from the constant;
    - `power`: the budget P of the target; None where the score is the same at every budget;
    - `by_target`: for a candidate, its laws seen from each target of a message, and their weights,
      where the score is an average over those. `channel` and `laws` are None where every candidate
      has a channel of its own.
    """

    channel: Channel | None
    laws: Pool | None
    power: float | None
    centre: Array
    spread: Array
    constant: float
    offset: float = 0.0
    by_target: Callable[[int], tuple[Pool, Array]] | None = None

    def uncharged(self, variance: Array) -> Match:
        """The upper bound on W2^2 that does not charge the signal, for laws within the budget.

        `W2^2 = |m - m_T|^2 + s^2 + Var T - 2 rho <= |m - m_T|^2 + P + Var T - 2 rho` where s^2, the
        `variance` of the signal, is at most P: the cost of the law filled up to the budget by
        independent noise. It falls with s for all s, which W2^2 does not (theory 8b).
        """
        power = 0.0 if self.power is None else self.power
        return replace(self, spread=self.spread - variance, constant=self.constant + power)

    @property
    def values(self) -> Array:
        """The scores without the constant, `(n,)`: higher is better."""
        return -self.centre - self.spread

    @property
    def scores(self) -> Array:
        """`-W2^2`, `(n,)`."""
        return self.values - self.constant

    @property
    def exploitation(self) -> Array:
        """`|m - m_T|^2`, `(n,)`."""
        return self.centre + self.offset

    @property
    def exploration(self) -> Array:
        """`W2^2(p - m, T - m_T)`, `(n,)`."""
        return self.spread + (self.constant - self.offset)


def target_input(channel: Channel, power: float, *, solver: Any = None) -> Any:
    """The capacity of the channel at E|L|^2 <= power, whose `.input` is the target.

    >>> from channelcode import Logistic
    >>> target_input(Logistic(), 4.0).input.atoms
    array([-2.,  2.])
    """
    from channelcode.capacity import Power, capacity

    if solver is None:
        return capacity(channel, Power(power))
    return capacity(channel, Power(power), solver=solver)


def unit_correlation(channel: Channel) -> float | None:
    """`max E<Z, T> / sqrt(P)` of a standard normal Z and the target T, where T is known by theorem.

    `sqrt(2/pi)` for logistic and probit channels, whose target is B_sqrt(P); 1 for
    `AdditiveGaussian`, whose target is N(0, P). None for all others.
    """
    if type(channel) in (Logistic, Probit):
        return TWO_ATOMS
    return 1.0 if type(channel) is AdditiveGaussian else None


def has_known_target(channel: Channel, laws: Pool) -> bool:
    """Whether a theorem gives the target, of mean zero, and the laws are Gaussians on the line."""
    return unit_correlation(channel) is not None and isinstance(laws, ScalarPool)


def two_atom_constant(power: float) -> float:
    """`(1 - 2/pi) P`: what eq. (APM-LR) leaves out of W2^2, as no candidate changes it."""
    return (1.0 - 2.0 / pi) * power


def known_match(channel: Channel, laws: ScalarPool, power: float, correlation: float) -> Match:
    """Gaussians on the line beside a target of mean zero with a known `unit_correlation` c.

    `W2^2 = mu^2 + sigma (sigma - 2 c sqrt P) + P`. For B_sqrt(P), c^2 = 2/pi, it is Corollary 3.2.1
    and eq. (APM-LR), `mu^2 + (sigma - sqrt(2P/pi))^2 + (1 - 2/pi) P` without the cancellation; for
    N(0, P), c = 1, it is `mu^2 + (sigma - sqrt P)^2`.
    """
    deviation = np.sqrt(laws.variance)
    spread = deviation - 2.0 * correlation * sqrt(power)
    spread *= deviation
    return Match(channel, laws, power, laws.mean**2, spread, power)


def two_atom_scores(laws: ScalarPool, power: float) -> Array:
    """`-W2^2` of Gaussians on the line to B_sqrt(P), `(n,)`: Corollary 3.2.1."""
    return known_match(Logistic(), laws, power, TWO_ATOMS).scores


def paper_utility(laws: ScalarPool, power: float) -> Array:
    """The paper's APM-LR utility `-(mu^2 + (sigma - sqrt(2P/pi))^2)`, eq. (APM-LR), shape `(n,)`.

    `APM().scores` are these less the constant `two_atom_constant(power)`.

    >>> paper_utility(ScalarPool([1.0, 2.0], [2.0, 2.0]), pi).round(6)
    array([-1., -4.])
    """
    return two_atom_scores(laws, power) + two_atom_constant(power)


def match(channel: Channel, laws: Pool, power: float, *, solver: Any = None) -> Match:
    """The laws of a pool beside the target at the budget `power`, for any channel."""
    known = unit_correlation(channel)
    if solver is None and known is not None and isinstance(laws, ScalarPool):
        return known_match(channel, laws, power, known)
    target = target_input(channel, power, solver=solver).input
    return replace(beside(target, laws), channel=channel, power=power)


def beside(target: DiscreteMeasure, laws: Pool) -> Match:
    """The laws of a pool beside any target: `W2^2 = |m - m_T|^2 + W2^2(p - m, T - m_T)`."""
    from channelcode.transport import w2_squared

    own = target.second_moment
    # W2^2 of small laws to a far target is nearly the target's power: shrink it, so that the
    # correlation is not a difference of two large numbers; it is proportional to the target.
    largest = float(laws.second_moment.max())
    shrink = sqrt(own / largest) if own > FAR * largest > 0 else 1.0
    near = target if shrink == 1.0 else target.transform(1.0 / shrink)
    variance = laws.total_variance
    apart = exploitation(laws, near) + variance + near.second_moment
    apart -= float(np.sum(np.square(near.mean)))
    correlation = 0.5 * (apart - w2_squared(laws, near))
    centre = power_of_mean(laws) - 2.0 * along(laws, target)
    spread = variance - 2.0 * shrink * correlation
    offset = float(np.sum(np.square(target.mean)))
    return Match(None, laws, None, centre, spread, own, offset)


def power_of_mean(laws: Pool) -> Array:
    """`|m_x|^2`, `(n,)`."""
    return np.square(laws.mean) if laws.dim == 1 else np.vecdot(laws.mean, laws.mean)


def along(laws: Pool, target: DiscreteMeasure) -> Array:
    """`<m_x, m_T>`, `(n,)`."""
    centre = np.asarray(target.mean)
    return laws.mean * centre if laws.dim == 1 else laws.mean @ centre


def exploitation(laws: Pool, target: DiscreteMeasure) -> Array:
    """`|m_x - m_T|^2`, the part of W2^2 that the means decide, `(n,)`."""
    shift = laws.mean - target.mean
    return shift**2 if shift.ndim == 1 else np.einsum("nk,nk->n", shift, shift)
