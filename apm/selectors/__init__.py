"""Selectors: which example to label next.

`rules/` holds one file for each of the usual rules, `matching/` the APM family: views, messages,
effective channel. What they share is here: `base` (choosing, batches), `ranking` (ties),
`candidates` (laws), `draws`, `batch`, `explanation`, `default`.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.selectors.base import PoolSelector as PoolSelector
    from apm.selectors.base import Selector as Selector
    from apm.selectors.explanation import Explanation as Explanation
    from apm.selectors.matching.apm import APM as APM
    from apm.selectors.matching.messages import Message as Message
    from apm.selectors.matching.messages import Parameters as Parameters
    from apm.selectors.matching.messages import Predictions as Predictions
    from apm.selectors.matching.terms import APMExploit as APMExploit
    from apm.selectors.matching.terms import APMExplore as APMExplore
    from apm.selectors.matching.views import AllClasses as AllClasses
    from apm.selectors.matching.views import ChannelChoice as ChannelChoice
    from apm.selectors.matching.views import ContestedPair as ContestedPair
    from apm.selectors.rules.bald import BALD as BALD
    from apm.selectors.rules.bisection import Bisection as Bisection
    from apm.selectors.rules.entropy import Entropy as Entropy
    from apm.selectors.rules.epig import EPIG as EPIG
    from apm.selectors.rules.gain_per_cost import GainPerCost as GainPerCost
    from apm.selectors.rules.information_gain import InformationGain as InformationGain
    from apm.selectors.rules.least_confidence import LeastConfidence as LeastConfidence
    from apm.selectors.rules.margin import Margin as Margin
    from apm.selectors.rules.max_variance import MaxVariance as MaxVariance
    from apm.selectors.rules.random import Random as Random
    from apm.selectors.rules.uncertainty import Uncertainty as Uncertainty
else:
    attach(
        __name__,
        {
            "base": "PoolSelector Selector",
            "explanation": "Explanation",
            "matching.apm": "APM",
            "matching.messages": "Message Parameters Predictions",
            "matching.terms": "APMExploit APMExplore",
            "matching.views": "AllClasses ChannelChoice ContestedPair",
            "rules.bald": "BALD",
            "rules.bisection": "Bisection",
            "rules.entropy": "Entropy",
            "rules.epig": "EPIG",
            "rules.gain_per_cost": "GainPerCost",
            "rules.information_gain": "InformationGain",
            "rules.least_confidence": "LeastConfidence",
            "rules.margin": "Margin",
            "rules.max_variance": "MaxVariance",
            "rules.random": "Random",
            "rules.uncertainty": "Uncertainty",
        },
    )
