"""Selectors: which example to label next.

`rules/` holds one file for each of the usual rules, `matching/` the APM family: views, messages,
effective channel. What they share is here: `base` (choosing, batches), `ranking` (ties),
`candidates` (laws), `draws`, `batch`, `explanation`, `default`.
"""

from apm.selectors.base import PoolSelector, Selector
from apm.selectors.explanation import Explanation
from apm.selectors.matching.apm import APM
from apm.selectors.matching.messages import Message, Parameters, Predictions
from apm.selectors.matching.terms import APMExploit, APMExplore
from apm.selectors.matching.views import AllClasses, ChannelChoice, ContestedPair
from apm.selectors.rules.bald import BALD
from apm.selectors.rules.bisection import Bisection
from apm.selectors.rules.entropy import Entropy
from apm.selectors.rules.epig import EPIG
from apm.selectors.rules.gain_per_cost import GainPerCost
from apm.selectors.rules.information_gain import InformationGain
from apm.selectors.rules.least_confidence import LeastConfidence
from apm.selectors.rules.margin import Margin
from apm.selectors.rules.max_variance import MaxVariance
from apm.selectors.rules.random import Random
from apm.selectors.rules.uncertainty import Uncertainty

__all__ = [
    "APM",
    "APMExploit",
    "APMExplore",
    "AllClasses",
    "BALD",
    "Bisection",
    "ChannelChoice",
    "ContestedPair",
    "EPIG",
    "Entropy",
    "Explanation",
    "GainPerCost",
    "InformationGain",
    "LeastConfidence",
    "Margin",
    "MaxVariance",
    "Message",
    "Parameters",
    "PoolSelector",
    "Predictions",
    "Random",
    "Selector",
    "Uncertainty",
]
