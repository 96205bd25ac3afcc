"""Power budgets for the target input: how large an input the channel may be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from channelcode._validation import non_negative
from channelcode.measures import Pool


class PowerPolicy(ABC):
    """A rule for the budget P in E|L|^2 <= P (paper, Section 4; theory of the power budget).

    `power(belief, X)` is for the candidates X `(n, d)`. `radius` is the largest feature norm B over
    the initial pool (`belief.radius`), by default over X; `pool` saves a second push of X.
    """

    @property
    @abstractmethod
    def valid(self) -> bool:
        """Whether P bounds E|L|^2 of every candidate, as certificates need."""

    @abstractmethod
    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        """The budget P."""


@dataclass(frozen=True)
class SpectralPower(PowerPolicy):
    """The paper's budget P = B^2 lambda_1(sum_k Sigma_kk), without the mean (Algorithm 1)."""

    @property
    def valid(self) -> bool:
        return False

    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        bound = belief.radius(X) if radius is None else non_negative("radius", radius)
        return bound**2 * belief.sized(X).posterior.top_eigenvalue


@dataclass(frozen=True)
class SpectralWithMean(PowerPolicy):
    """The valid spectral budget P = B^2 lambda_1(sum_k (Sigma_kk + mu_k mu_k'))."""

    @property
    def valid(self) -> bool:
        return True

    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        bound = belief.radius(X) if radius is None else non_negative("radius", radius)
        posterior = belief.sized(X).posterior
        mean = np.atleast_2d(posterior.mean)
        return bound**2 * float(np.linalg.eigvalsh(posterior.summed_covariance + mean.T @ mean)[-1])


@dataclass(frozen=True)
class PoolMaxPower(PowerPolicy):
    """The exact maximum P = max_x E|L_x|^2 over the candidates: valid, and the tightest."""

    @property
    def valid(self) -> bool:
        return True

    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        laws = belief.push(X) if pool is None else pool
        return float(laws.second_moment.max())


@dataclass(frozen=True)
class FixedPower(PowerPolicy):
    """The same budget always; nothing says that it holds for every candidate."""

    budget: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", non_negative("budget", self.budget))

    @property
    def valid(self) -> bool:
        return False

    def power(
        self,
        belief: Belief,
        X: ArrayLike,
        *,
        radius: float | None = None,
        pool: Pool | None = None,
    ) -> float:
        return self.budget
