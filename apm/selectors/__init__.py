"""Selectors: which example to label next. One file each; what they share is in `base`."""

from apm.selectors.apm import APM, APMExploit, APMExplore
from apm.selectors.bald import BALD
from apm.selectors.base import PoolSelector, Selector
from apm.selectors.channels import AllClasses, ChannelChoice, ContestedPair
from apm.selectors.entropy import Entropy
from apm.selectors.epig import EPIG
from apm.selectors.explanation import Explanation
from apm.selectors.information_gain import InformationGain
from apm.selectors.least_confidence import LeastConfidence
from apm.selectors.margin import Margin
from apm.selectors.max_variance import MaxVariance
from apm.selectors.messages import Message, Parameters, Predictions
from apm.selectors.random import Random
from apm.selectors.uncertainty import Uncertainty

__all__ = [
    "APM",
    "APMExploit",
    "APMExplore",
    "AllClasses",
    "BALD",
    "ChannelChoice",
    "ContestedPair",
    "EPIG",
    "Entropy",
    "Explanation",
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
