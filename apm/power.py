"""Power budgets for the target input: how large an input the channel may be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from channelcode._validation import Array, non_negative
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument
from channelcode.measures import Pool

__all__ = [
    "FixedPower",
    "MatchedPower",
    "PoolMaxPower",
    "PowerPolicy",
    "SharePower",
    "SignalPower",
    "SpectralPower",
    "SpectralWithMean",
    "VariancePower",
]

TINIEST = 1e-300


@dataclass(frozen=True)
class Candidates:
    """What a power policy may look at: the candidates of one selection.

    - `X` `(n, d)` and the belief about them; `B`, if given, is the largest feature norm of the
      initial pool;
    - `inputs`: the laws of the channel input, in the units of the channel that the rule looks
      through (`apm.selectors.matching.views`); by default those of the belief's own channel;
    - `gain`: how much larger E|L|^2 may be in those units than in those of the belief's input;
    - `seen_through`: that channel, by default the belief's;
    - `before`: the laws before a message made part of their variance noise, by default `inputs`;
      `share` `(n,)`: the part R^2 of that variance which is about the message, by default all.
    """

    belief: Belief
    X: Any
    B: float | None = None
    inputs: Pool | None = None
    gain: float = 1.0
    seen_through: Channel | None = None
    before: Pool | None = None
    share: Array | None = None

    @cached_property
    def radius(self) -> float:
        """B, over the pool at hand if it was not given."""
        return self.belief.radius(self.X) if self.B is None else non_negative("radius", self.B)

    @cached_property
    def laws(self) -> Pool:
        """The laws of the channel input, one for each candidate."""
        return self.belief.push(self.X) if self.inputs is None else self.inputs

    @property
    def channel(self) -> Channel:
        """The channel whose input the laws are."""
        return self.belief.channel if self.seen_through is None else self.seen_through

    @property
    def variance(self) -> Array:
        """sigma^2, the variance of each input before a message is regarded, `(n,)`."""
        return (self.laws if self.before is None else self.before).total_variance

    @property
    def shared_variance(self) -> Array:
        """sigma^2 R^2, the part of it that is about the message, `(n,)`."""
        return self.variance if self.share is None else self.variance * self.share

    @property
    def signal_variance(self) -> Array:
        """k^2 sigma^2 R^2, the same in the units of the channel that the noise leaves, `(n,)`."""
        return self.laws.total_variance


@dataclass(frozen=True)
class PowerPolicy(ABC):
    """A rule for the budget P in E|L|^2 <= P (paper, Section 4; theory of the power budget).

    A new policy writes `amount` and says whether it is `valid`.

    >>> from apm import Belief, VariationalLogistic
    >>> PoolMaxPower().power(Belief(VariationalLogistic(1.0)), [[3.0, 4.0], [1.0, 0.0]])
    25.0
    """

    #: Whether P bounds E|L|^2 of every candidate, as certificates need.
    valid: ClassVar[bool] = False
    #: Whether the amount depends on which candidates there are (beyond B and the belief).
    over_pool: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        """A policy that writes an amount of its own says anew what it is of."""
        super().__init_subclass__(**options)
        if "amount" in vars(cls):
            if "over_pool" not in vars(cls):
                cls.over_pool = True
            if "joined" not in vars(cls):
                cls.joined = PowerPolicy.joined

    @abstractmethod
    def amount(self, candidates: Candidates) -> float:
        """The budget P for these candidates, in the units of their laws."""

    def joined(self, amounts: Iterable[float]) -> float:
        """The budget for all candidates, from those for parts of them."""
        raise InvalidArgument("power", "must write `joined` where a pool comes in parts", self)

    @property
    def can_join(self) -> bool:
        """Whether the budget of a pool follows from those of its parts."""
        return not self.over_pool or type(self).joined is not PowerPolicy.joined

    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        """The budget P for the candidates X `(n, d)`.

        `radius` is the largest feature norm B over the initial pool (`belief.radius`), by default
        over X; `pool`, the laws of the candidates, saves a second push of X.
        """
        return self.amount(Candidates(belief, X, radius, pool))


@dataclass(frozen=True)
class SpectralPower(PowerPolicy):
    """The paper's budget P = B^2 lambda_1(sum_k Sigma_kk), without the mean (Algorithm 1).

    >>> from apm import Belief, VariationalLogistic
    >>> SpectralPower().power(Belief(VariationalLogistic(0.5)), [[3.0, 4.0], [1.0, 0.0]])
    50.0
    """

    over_pool = False

    def amount(self, candidates: Candidates) -> float:
        posterior = candidates.belief.sized(candidates.X).posterior
        return candidates.gain * candidates.radius**2 * posterior.top_eigenvalue


@dataclass(frozen=True)
class SpectralWithMean(PowerPolicy):
    """The valid spectral budget P = B^2 lambda_1(sum_k (Sigma_kk + mu_k mu_k'))."""

    valid = True

    over_pool = False

    def amount(self, candidates: Candidates) -> float:
        posterior = candidates.belief.sized(candidates.X).posterior
        mean = np.atleast_2d(posterior.mean)
        form = posterior.summed_covariance + mean.T @ mean
        return candidates.gain * candidates.radius**2 * float(np.linalg.eigvalsh(form)[-1])


@dataclass(frozen=True)
class PoolMaxPower(PowerPolicy):
    """The exact maximum P = max_x E|L_x|^2 over the candidates: valid, and the tightest."""

    valid = True

    def amount(self, candidates: Candidates) -> float:
        return float(candidates.laws.second_moment.max())

    def joined(self, amounts: Iterable[float]) -> float:
        return max(amounts)


@dataclass(frozen=True)
class SignalPower(PowerPolicy):
    """The largest variance of the signal, P = max_x k^2 sigma^2 R^2 (theory 8b).

    A known mean tells nothing: a label through the logistic channel carries at most Var L / 8 nats.
    So it is the variance that is limited, and the most settled candidate no longer sets the weight
    of exploration for all others. With `Parameters()` k = R = 1.

    >>> from apm import Belief, VariationalLogistic
    >>> SignalPower().power(Belief(VariationalLogistic(1.0)), [[3.0, 4.0], [1.0, 0.0]])
    25.0
    """

    def amount(self, candidates: Candidates) -> float:
        return float(candidates.signal_variance.max())

    def joined(self, amounts: Iterable[float]) -> float:
        return max(amounts)


@dataclass(frozen=True)
class SharePower(PowerPolicy):
    """The largest variance about the message before the noise, P = max_x sigma^2 R^2."""

    def amount(self, candidates: Candidates) -> float:
        return float(candidates.shared_variance.max())

    def joined(self, amounts: Iterable[float]) -> float:
        return max(amounts)


@dataclass(frozen=True)
class VariancePower(PowerPolicy):
    """The largest variance of the input, P = max_x sigma^2, whatever the message."""

    def amount(self, candidates: Candidates) -> float:
        return float(candidates.variance.max())

    def joined(self, amounts: Iterable[float]) -> float:
        return max(amounts)


@dataclass(frozen=True)
class MatchedPower(PowerPolicy):
    """The budget at which APM ranks like information gain, to first order.

        P = (pi/2) (2 / kappa)^2 / max_x k^2 sigma^2 R^2,      kappa = -J''(m) / J(m)

    with J the Fisher information of the channel and m its maximum (`fisher_curvature`): 8 pi over
    the largest variance for the logistic channel. It grows as the posterior shrinks. Candidates
    that do not vary at all have nothing to match: their budget is zero.

    >>> from apm import Belief, VariationalLogistic
    >>> round(MatchedPower().power(Belief(VariationalLogistic(1.0)), [[3.0, 4.0]]), 4)
    1.0053
    """

    def amount(self, candidates: Candidates) -> float:
        from channelcode.information.fisher import fisher_curvature

        largest = float(candidates.signal_variance.max())
        matched = 2.0 * np.pi / fisher_curvature(candidates.channel) ** 2
        # below this the quotient would overflow, and no two candidates differ by anything
        return matched / largest if largest > TINIEST * matched else 0.0

    def joined(self, amounts: Iterable[float]) -> float:
        return min((amount for amount in amounts if amount > 0), default=0.0)


@dataclass(frozen=True)
class FixedPower(PowerPolicy):
    """The same budget always; nothing says that it holds for every candidate.

    >>> FixedPower(4.0)
    FixedPower(budget=4.0)
    """

    budget: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", non_negative("budget", self.budget))

    over_pool = False

    def amount(self, candidates: Candidates) -> float:
        return self.budget
