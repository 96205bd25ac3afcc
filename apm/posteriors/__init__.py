"""Posteriors of the parameters: immutable, warm-started, with the structure of their covariance."""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.posteriors.base import Posterior as Posterior
    from apm.posteriors.bohning import Bohning as Bohning
    from apm.posteriors.covariances.covariance import BlockCovariance as BlockCovariance
    from apm.posteriors.covariances.covariance import Covariance as Covariance
    from apm.posteriors.covariances.covariance import DiagonalCovariance as DiagonalCovariance
    from apm.posteriors.covariances.covariance import KroneckerCovariance as KroneckerCovariance
    from apm.posteriors.covariances.structures import DiagonalHessian as DiagonalHessian
    from apm.posteriors.covariances.structures import FullHessian as FullHessian
    from apm.posteriors.covariances.structures import KroneckerHessian as KroneckerHessian
    from apm.posteriors.covariances.structures import Structure as Structure
    from apm.posteriors.encoded_laplace import EncodedLaplace as EncodedLaplace
    from apm.posteriors.evidence import MaximumEvidence as MaximumEvidence
    from apm.posteriors.fitting.restarts import CompetingMaxima as CompetingMaxima
    from apm.posteriors.laplace import Laplace as Laplace
    from apm.posteriors.laplace import ScalarLaplace as ScalarLaplace
    from apm.posteriors.linear_gaussian import LinearGaussian as LinearGaussian
    from apm.posteriors.sampled import Sampled as Sampled
    from apm.posteriors.samples import Grid as Grid
    from apm.posteriors.samples import Particles as Particles
    from apm.posteriors.samples import WeightedSamples as WeightedSamples
    from apm.posteriors.samples.draws import Draws as Draws
    from apm.posteriors.samples.inputs import Inputs as Inputs
    from apm.posteriors.samples.reweighting import CollapsedWeights as CollapsedWeights
    from apm.posteriors.thresholds import Thresholds as Thresholds
    from apm.posteriors.variational import VariationalLogistic as VariationalLogistic
else:
    attach(
        __name__,
        {
            "base": "Posterior",
            "bohning": "Bohning",
            "covariances.covariance": (
                "BlockCovariance Covariance DiagonalCovariance KroneckerCovariance"
            ),
            "covariances.structures": "DiagonalHessian FullHessian KroneckerHessian Structure",
            "encoded_laplace": "EncodedLaplace",
            "evidence": "MaximumEvidence",
            "fitting.restarts": "CompetingMaxima",
            "laplace": "Laplace ScalarLaplace",
            "linear_gaussian": "LinearGaussian",
            "sampled": "Sampled",
            "samples": "Grid Particles WeightedSamples",
            "samples.draws": "Draws",
            "samples.inputs": "Inputs",
            "samples.reweighting": "CollapsedWeights",
            "thresholds": "Thresholds",
            "variational": "VariationalLogistic",
        },
    )
