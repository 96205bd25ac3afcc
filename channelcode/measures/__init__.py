"""Laws of the channel input: discrete, empirical, Gaussian, and pools of them."""

from channelcode.measures.base import Measure
from channelcode.measures.discrete import DiscreteMeasure
from channelcode.measures.empirical import Empirical
from channelcode.measures.empirical_pool import EmpiricalPool
from channelcode.measures.gaussian import Gaussian
from channelcode.measures.pool import (
    FullPool,
    GaussianPool,
    Pool,
    ScalarPool,
    ScaledPool,
    gaussian_pool,
)

__all__ = [
    "DiscreteMeasure",
    "Empirical",
    "EmpiricalPool",
    "FullPool",
    "Gaussian",
    "GaussianPool",
    "Measure",
    "Pool",
    "ScalarPool",
    "ScaledPool",
    "gaussian_pool",
]
