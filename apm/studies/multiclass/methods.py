"""The methods of the study: the library's selectors by name."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

from apm.belief import Belief
from apm.power import FixedPower, PoolMaxPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    ContestedPair,
    Entropy,
    LeastConfidence,
    Margin,
    Predictions,
    Random,
    Selector,
)
from apm.selectors.base import PoolSelector
from channelcode._validation import Array, Seed
from channelcode.measures import Pool

SAMPLES = 100
EPIG_TARGETS = 32  # drawn anew from the pool for every query
DEFAULT = "APM pair, predictions"
PAIR = ContestedPair()


@dataclass(frozen=True)
class NearestPair(PoolSelector):
    """The rule's first term alone: `-(k m)^2` of the contested pair, all variance as noise.

    m is the difference of the two largest mean logits, s^2 its variance, and
    `k^2 = 1 / (1 + pi s^2 / 8)` the slope that is left of the logistic channel.
    """

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        pair = PAIR.view(belief, laws).laws
        return -(pair.mean**2) / (1.0 + (pi / 8.0) * pair.total_variance)


METHODS: dict[str, Selector] = {
    "random": Random(),
    "margin": Margin(),
    "least confidence": LeastConfidence(),
    "entropy": Entropy(),
    "BALD": BALD(SAMPLES),
    "EPIG": EPIG(SAMPLES, num_targets=EPIG_TARGETS),
    "Bayesian margin": Margin(bayesian=True),
    "APM all classes": APM(channel=AllClasses()),
    "APM pair": APM(channel=PAIR),
    "APM pair, predictions, P = 64": APM(
        FixedPower(64.0), channel=PAIR, message=Predictions(weighted=False, pooled=False)
    ),
    "APM pair, predictions, each": APM(
        PoolMaxPower(), channel=PAIR, message=Predictions(pooled=False)
    ),
    DEFAULT: APM(PoolMaxPower(), channel=PAIR, message=Predictions()),
    "APM pair, exploit": NearestPair(),
}
"""The rule under test (`DEFAULT`), its rivals, and what it was made from."""
