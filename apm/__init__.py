"""Active learning as feedback coding: posteriors, beliefs, selectors, and a learner that asks.

>>> import numpy as np
>>> from apm import APM, Learner, VariationalLogistic
>>> learner = Learner(np.eye(3), VariationalLogistic(), APM(), seed=0)
>>> learner.tell(0, "yes")
>>> int(learner.ask())
1
"""

from apm.belief import Belief
from apm.comparison import Comparison, compare
from apm.encoders import (
    Affine,
    Difference,
    Encoder,
    Expert,
    FeatureMap,
    Linear,
    NonLinear,
    Standardised,
    TorchFeatures,
    TorchNetwork,
)
from apm.experts import ExpertLearner
from apm.insight import (
    Curve,
    Efficiency,
    StopAdvice,
    StopAfter,
    StopBelowBits,
    StopRule,
    StopWhenStable,
)
from apm.journal import History, Record, ScoreSummary
from apm.learner import Learner
from apm.posteriors import (
    Bohning,
    CollapsedWeights,
    CompetingMaxima,
    DiagonalHessian,
    Draws,
    FullHessian,
    Grid,
    Inputs,
    KroneckerHessian,
    Laplace,
    LinearGaussian,
    MaximumEvidence,
    Particles,
    Posterior,
    Sampled,
    Thresholds,
    VariationalLogistic,
)
from apm.power import (
    FixedPower,
    MatchedPower,
    PoolMaxPower,
    PowerPolicy,
    SharePower,
    SignalPower,
    SpectralPower,
    SpectralWithMean,
    VariancePower,
)
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    APMExploit,
    APMExplore,
    Bisection,
    ContestedPair,
    Entropy,
    Explanation,
    GainPerCost,
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
    "MaximumEvidence",
    "Posterior",
    "VariationalLogistic",
    "Laplace",
    "FullHessian",
    "KroneckerHessian",
    "DiagonalHessian",
    "Bohning",
    "Sampled",
    "Thresholds",
    "Grid",
    "Particles",
    "Inputs",
    "Draws",
    "CollapsedWeights",
    "CompetingMaxima",
    "Encoder",
    "Linear",
    "Affine",
    "FeatureMap",
    "NonLinear",
    "Difference",
    "Standardised",
    "TorchFeatures",
    "TorchNetwork",
    "Expert",
    "Belief",
    # power policies
    "PowerPolicy",
    "SpectralPower",
    "SpectralWithMean",
    "PoolMaxPower",
    "SignalPower",
    "SharePower",
    "VariancePower",
    "MatchedPower",
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
    "Bisection",
    "MaxVariance",
    "Random",
    "InformationGain",
    "GainPerCost",
    "BALD",
    "Margin",
    "LeastConfidence",
    "Entropy",
    "EPIG",
    "Explanation",
    # the loop
    "Learner",
    "ExpertLearner",
    "LinearGaussian",
    "History",
    "Record",
    "ScoreSummary",
    # what it knows, and when to stop
    "Curve",
    "Efficiency",
    "StopAdvice",
    "StopRule",
    "StopAfter",
    "StopWhenStable",
    "StopBelowBits",
    "compare",
    "Comparison",
]
