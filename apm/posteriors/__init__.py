"""Posteriors of the parameters: immutable, warm-started, with the structure of their covariance."""

from apm.posteriors.base import Posterior
from apm.posteriors.bohning import Bohning
from apm.posteriors.covariances.covariance import (
    BlockCovariance,
    Covariance,
    DiagonalCovariance,
    KroneckerCovariance,
)
from apm.posteriors.covariances.structures import (
    DiagonalHessian,
    FullHessian,
    KroneckerHessian,
    Structure,
)
from apm.posteriors.encoded_laplace import EncodedLaplace
from apm.posteriors.evidence import MaximumEvidence
from apm.posteriors.fitting.restarts import CompetingMaxima
from apm.posteriors.laplace import Laplace, ScalarLaplace
from apm.posteriors.linear_gaussian import LinearGaussian
from apm.posteriors.sampled import Sampled
from apm.posteriors.samples import Grid, Particles, WeightedSamples
from apm.posteriors.samples.draws import Draws
from apm.posteriors.samples.inputs import Inputs
from apm.posteriors.samples.reweighting import CollapsedWeights
from apm.posteriors.thresholds import Thresholds
from apm.posteriors.variational import VariationalLogistic

__all__ = [
    "BlockCovariance",
    "Bohning",
    "CollapsedWeights",
    "CompetingMaxima",
    "Covariance",
    "DiagonalCovariance",
    "DiagonalHessian",
    "Draws",
    "EncodedLaplace",
    "FullHessian",
    "Grid",
    "Inputs",
    "KroneckerCovariance",
    "KroneckerHessian",
    "Laplace",
    "MaximumEvidence",
    "LinearGaussian",
    "Particles",
    "Posterior",
    "Sampled",
    "ScalarLaplace",
    "Structure",
    "Thresholds",
    "VariationalLogistic",
    "WeightedSamples",
]
