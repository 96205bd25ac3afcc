"""Power budgets for the target input: how large an input the channel may be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from channelcode._validation import non_negative
from channelcode.measures import Pool


@dataclass(frozen=True)
class Candidates:
    """What a power policy may look at: the candidates of one selection.

    - `X` `(n, d)` and the belief about them; `B`, if given, is the largest feature norm of the
      initial pool;
    - `inputs`: the laws of the channel input, in the units of the channel that the rule looks
      through (`apm.selectors.matching.views`); by default those of the belief's own channel;
    - `gain`: how much larger E|L|^2 may be in those units than in those of the belief's input.
    """

    belief: Belief
    X: Any
    B: float | None = None
    inputs: Pool | None = None
    gain: float = 1.0

    @cached_property
    def radius(self) -> float:
        """B, over the pool at hand if it was not given."""
        return self.belief.radius(self.X) if self.B is None else non_negative("radius", self.B)

    @cached_property
    def laws(self) -> Pool:
        """The laws of the channel input, one for each candidate."""
        return self.belief.push(self.X) if self.inputs is None else self.inputs


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

    @abstractmethod
    def amount(self, candidates: Candidates) -> float:
        """The budget P for these candidates, in the units of their laws."""

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

    def amount(self, candidates: Candidates) -> float:
        posterior = candidates.belief.sized(candidates.X).posterior
        return candidates.gain * candidates.radius**2 * posterior.top_eigenvalue


@dataclass(frozen=True)
class SpectralWithMean(PowerPolicy):
    """The valid spectral budget P = B^2 lambda_1(sum_k (Sigma_kk + mu_k mu_k'))."""

    valid = True

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


@dataclass(frozen=True)
class FixedPower(PowerPolicy):
    """The same budget always; nothing says that it holds for every candidate.

    >>> FixedPower(4.0)
    FixedPower(budget=4.0)
    """

    budget: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", non_negative("budget", self.budget))

    def amount(self, candidates: Candidates) -> float:
        return self.budget
