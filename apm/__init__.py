"""Active learning as feedback coding: posteriors, beliefs, selectors, and a learner that asks.

>>> import numpy as np
>>> from apm import APM, Learner, VariationalLogistic
>>> learner = Learner(np.eye(3), VariationalLogistic(), APM(), seed=0)
>>> learner.tell(0, "yes")
>>> int(learner.ask())
1
"""

from apm.belief import Belief
from apm.encoders import Affine, Encoder, FeatureMap, Linear, TorchFeatures
from apm.journal import Record, ScoreSummary
from apm.learner import Learner
from apm.posteriors import (
    Bohning,
    DiagonalHessian,
    FullHessian,
    KroneckerHessian,
    Laplace,
    Posterior,
    Sampled,
    VariationalLogistic,
)
from apm.power import FixedPower, PoolMaxPower, PowerPolicy, SpectralPower, SpectralWithMean
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    APMExploit,
    APMExplore,
    ContestedPair,
    Entropy,
    Explanation,
    InformationGain,
    LeastConfidence,
    Margin,
    MaxVariance,
    Parameters,
    Predictions,
    Random,
    Selector,
    Uncertainty,
)

__all__ = [
    # beliefs
    "Posterior",
    "VariationalLogistic",
    "Laplace",
    "FullHessian",
    "KroneckerHessian",
    "DiagonalHessian",
    "Bohning",
    "Sampled",
    "Encoder",
    "Linear",
    "Affine",
    "FeatureMap",
    "TorchFeatures",
    "Belief",
    # power policies
    "PowerPolicy",
    "SpectralPower",
    "SpectralWithMean",
    "PoolMaxPower",
    "FixedPower",
    # selectors
    "Selector",
    "APM",
    "APMExploit",
    "APMExplore",
    "AllClasses",
    "ContestedPair",
    "Parameters",
    "Predictions",
    "Uncertainty",
    "MaxVariance",
    "Random",
    "InformationGain",
    "BALD",
    "Margin",
    "LeastConfidence",
    "Entropy",
    "EPIG",
    "Explanation",
    # the loop
    "Learner",
    "Record",
    "ScoreSummary",
]
