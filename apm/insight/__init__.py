"""What a learner can say about itself: curves, advice when to stop, rules for stopping.

`replay` repeats a learner's labels, `advice` is `Learner.stop_advice`, `stopping` the rules,
`curve` is `Learner.curve`, `efficiency` is `Learner.efficiency`, `page` its picture in a notebook.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.insight.advice import StopAdvice as StopAdvice
    from apm.insight.curve import Curve as Curve
    from apm.insight.efficiency import Efficiency as Efficiency
    from apm.insight.stopping import StopAfter as StopAfter
    from apm.insight.stopping import StopBelowBits as StopBelowBits
    from apm.insight.stopping import StopRule as StopRule
    from apm.insight.stopping import StopWhenStable as StopWhenStable
else:
    attach(
        __name__,
        {
            "advice": "StopAdvice",
            "curve": "Curve",
            "efficiency": "Efficiency",
            "stopping": "StopAfter StopBelowBits StopRule StopWhenStable",
        },
    )
