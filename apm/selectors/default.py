"""The selector that a learner uses when it is given none."""

from __future__ import annotations

from apm.belief import Belief
from apm.power import PoolMaxPower
from apm.selectors.matching.apm import APM
from apm.selectors.matching.messages import Predictions
from apm.selectors.matching.views import ContestedPair
from channelcode.channels import Softmax


def default_selector(belief: Belief) -> APM:
    """The paper's `APM()` on the line; the rule of `docs/multiclass.md` for a softmax.

    >>> from apm.posteriors import Bohning
    >>> default_selector(Belief(Bohning(3))).channel
    ContestedPair()
    """
    if isinstance(belief.channel, Softmax):
        return APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions())
    return APM()
