"""Active learning as feedback coding: posteriors, beliefs, selectors, and a learner that asks.

>>> import numpy as np
>>> from apm import APM, Learner, VariationalLogistic
>>> learner = Learner(np.eye(3), VariationalLogistic(), APM(), seed=0)
>>> learner.tell(0, "yes")
>>> int(learner.ask())
1
"""

import logging
from typing import TYPE_CHECKING

from channelcode import __version__ as __version__
from channelcode._lazy import attach

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless somebody listens

if TYPE_CHECKING:
    from apm.belief import Belief as Belief
    from apm.comparison import Comparison as Comparison
    from apm.comparison import compare as compare
    from apm.encoders import Affine as Affine
    from apm.encoders import Difference as Difference
    from apm.encoders import Encoder as Encoder
    from apm.encoders import Expert as Expert
    from apm.encoders import FeatureMap as FeatureMap
    from apm.encoders import Linear as Linear
    from apm.encoders import NonLinear as NonLinear
    from apm.encoders import Standardised as Standardised
    from apm.encoders import TorchFeatures as TorchFeatures
    from apm.encoders import TorchNetwork as TorchNetwork
    from apm.experts import ExpertLearner as ExpertLearner
    from apm.insight import Curve as Curve
    from apm.insight import Efficiency as Efficiency
    from apm.insight import StopAdvice as StopAdvice
    from apm.insight import StopAfter as StopAfter
    from apm.insight import StopBelowBits as StopBelowBits
    from apm.insight import StopRule as StopRule
    from apm.insight import StopWhenStable as StopWhenStable
    from apm.journal import History as History
    from apm.journal import Record as Record
    from apm.journal import ScoreSummary as ScoreSummary
    from apm.learner import Learner as Learner
    from apm.pairs import PairChoice as PairChoice
    from apm.pairs import PairPool as PairPool
    from apm.posteriors import Bohning as Bohning
    from apm.posteriors import CollapsedWeights as CollapsedWeights
    from apm.posteriors import CompetingMaxima as CompetingMaxima
    from apm.posteriors import DiagonalHessian as DiagonalHessian
    from apm.posteriors import Draws as Draws
    from apm.posteriors import FullHessian as FullHessian
    from apm.posteriors import Grid as Grid
    from apm.posteriors import Inputs as Inputs
    from apm.posteriors import KroneckerHessian as KroneckerHessian
    from apm.posteriors import Laplace as Laplace
    from apm.posteriors import LinearGaussian as LinearGaussian
    from apm.posteriors import MaximumEvidence as MaximumEvidence
    from apm.posteriors import Particles as Particles
    from apm.posteriors import Posterior as Posterior
    from apm.posteriors import Sampled as Sampled
    from apm.posteriors import Thresholds as Thresholds
    from apm.posteriors import VariationalLogistic as VariationalLogistic
    from apm.power import FixedPower as FixedPower
    from apm.power import MatchedPower as MatchedPower
    from apm.power import PoolMaxPower as PoolMaxPower
    from apm.power import PowerPolicy as PowerPolicy
    from apm.power import SharePower as SharePower
    from apm.power import SignalPower as SignalPower
    from apm.power import SpectralPower as SpectralPower
    from apm.power import SpectralWithMean as SpectralWithMean
    from apm.power import VariancePower as VariancePower
    from apm.selectors import APM as APM
    from apm.selectors import BALD as BALD
    from apm.selectors import EPIG as EPIG
    from apm.selectors import AllClasses as AllClasses
    from apm.selectors import APMExploit as APMExploit
    from apm.selectors import APMExplore as APMExplore
    from apm.selectors import Bisection as Bisection
    from apm.selectors import ContestedPair as ContestedPair
    from apm.selectors import Entropy as Entropy
    from apm.selectors import Explanation as Explanation
    from apm.selectors import GainPerCost as GainPerCost
    from apm.selectors import InformationGain as InformationGain
    from apm.selectors import LeastConfidence as LeastConfidence
    from apm.selectors import Margin as Margin
    from apm.selectors import MaxVariance as MaxVariance
    from apm.selectors import Parameters as Parameters
    from apm.selectors import Predictions as Predictions
    from apm.selectors import Random as Random
    from apm.selectors import Selector as Selector
    from apm.selectors import Uncertainty as Uncertainty
else:
    attach(
        __name__,
        {
            "belief": "Belief",
            "comparison": "Comparison compare",
            "encoders": (
                "Affine Difference Encoder Expert FeatureMap Linear NonLinear Standardised "
                "TorchFeatures TorchNetwork"
            ),
            "experts": "ExpertLearner",
            "insight": (
                "Curve Efficiency StopAdvice StopAfter StopBelowBits StopRule StopWhenStable"
            ),
            "journal": "History Record ScoreSummary",
            "learner": "Learner",
            "pairs": "PairChoice PairPool",
            "posteriors": (
                "Bohning CollapsedWeights CompetingMaxima DiagonalHessian Draws FullHessian "
                "Grid Inputs KroneckerHessian Laplace LinearGaussian MaximumEvidence Particles "
                "Posterior Sampled Thresholds VariationalLogistic"
            ),
            "power": (
                "FixedPower MatchedPower PoolMaxPower PowerPolicy SharePower SignalPower "
                "SpectralPower SpectralWithMean VariancePower"
            ),
            "selectors": (
                "APM BALD EPIG AllClasses APMExploit APMExplore Bisection ContestedPair Entropy "
                "Explanation GainPerCost InformationGain LeastConfidence Margin MaxVariance "
                "Parameters Predictions Random Selector Uncertainty"
            ),
        },
    )
