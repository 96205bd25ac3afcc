"""The selector that a learner uses when it is given none."""

from __future__ import annotations

from apm.belief import Belief
from apm.power import PoolMaxPower, SharePower
from apm.selectors.base import Selector
from apm.selectors.matching.apm import APM
from apm.selectors.matching.messages import Predictions
from apm.selectors.matching.views import ContestedPair
from apm.selectors.rules.information_gain import InformationGain
from channelcode.channels import Logistic, Probit, Softmax


def default_selector(belief: Belief) -> Selector:
    """The rule that our experiment chose for this belief (`docs/rule.md`).

    Two classes with a logistic or probit channel: `APM(PoolMaxPower(), message=Predictions())`. A
    softmax: `APM(SharePower(), channel=ContestedPair(), message=Predictions())`. A regression:
    `InformationGain()`, the D-optimal design. A model that is not linear in its parameters, or
    known by samples: `InformationGain()`, which needs no budget. Any other scalar channel: the
    paper's `APM()`.

    >>> from apm.posteriors import Bohning, VariationalLogistic
    >>> default_selector(Belief(Bohning(3))).channel
    ContestedPair()
    >>> default_selector(Belief(VariationalLogistic())).message.num_targets
    200
    """
    posterior = belief.posterior
    if not posterior.linear or posterior.gives_samples or not posterior.has_classes:
        return InformationGain()
    if isinstance(belief.channel, Softmax):
        return APM(SharePower(), channel=ContestedPair(), message=Predictions())
    if isinstance(belief.channel, Logistic | Probit):
        return APM(PoolMaxPower(), message=Predictions())
    return APM()
