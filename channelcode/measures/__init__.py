"""Laws of the channel input: discrete, empirical, Gaussian, and pools of them."""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.measures.base import Measure as Measure
    from channelcode.measures.discrete import DiscreteMeasure as DiscreteMeasure
    from channelcode.measures.empirical import Empirical as Empirical
    from channelcode.measures.empirical_pool import EmpiricalPool as EmpiricalPool
    from channelcode.measures.gaussian import Gaussian as Gaussian
    from channelcode.measures.pool import FullPool as FullPool
    from channelcode.measures.pool import GaussianPool as GaussianPool
    from channelcode.measures.pool import Pool as Pool
    from channelcode.measures.pool import ScalarPool as ScalarPool
    from channelcode.measures.pool import ScaledPool as ScaledPool
    from channelcode.measures.pool import gaussian_pool as gaussian_pool
else:
    attach(
        __name__,
        {
            "base": "Measure",
            "discrete": "DiscreteMeasure",
            "empirical": "Empirical",
            "empirical_pool": "EmpiricalPool",
            "gaussian": "Gaussian",
            "pool": "FullPool GaussianPool Pool ScalarPool ScaledPool gaussian_pool",
        },
    )
