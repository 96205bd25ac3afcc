"""What a learner can say about itself: curves, advice when to stop, rules for stopping.

`replay` repeats a learner's labels, `advice` is `Learner.stop_advice`, `stopping` the rules,
`curve` is `Learner.curve`, `efficiency` is `Learner.efficiency`, `page` its picture in a notebook.
"""

from apm.insight.advice import StopAdvice
from apm.insight.curve import Curve
from apm.insight.efficiency import Efficiency
from apm.insight.stopping import StopAfter, StopBelowBits, StopRule, StopWhenStable

__all__ = [
    "Curve",
    "Efficiency",
    "StopAdvice",
    "StopAfter",
    "StopBelowBits",
    "StopRule",
    "StopWhenStable",
]
