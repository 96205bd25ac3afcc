"""The methods of the study: the library's selectors by name."""

from __future__ import annotations

from apm.power import FixedPower, MatchedPower, PoolMaxPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    APMExploit,
    ContestedPair,
    Entropy,
    LeastConfidence,
    Margin,
    Predictions,
    Random,
    Selector,
)

SAMPLES = 100
EPIG_TARGETS = 32  # drawn anew from the pool for every query
DEFAULT = "APM pair, predictions"
PAIR = ContestedPair()


METHODS: dict[str, Selector] = {
    "random": Random(),
    "margin": Margin(),
    "least confidence": LeastConfidence(),
    "entropy": Entropy(),
    "BALD": BALD(SAMPLES),
    "EPIG": EPIG(SAMPLES, num_targets=EPIG_TARGETS),
    "Bayesian margin": Margin(bayesian=True, samples=SAMPLES),
    "APM all classes": APM(channel=AllClasses()),
    "APM pair": APM(channel=PAIR),
    "APM pair, predictions, P = 64": APM(
        FixedPower(64.0), channel=PAIR, message=Predictions(weighted=False, pooled=False)
    ),
    "APM pair, predictions, each": APM(
        PoolMaxPower(), channel=PAIR, message=Predictions(pooled=False)
    ),
    DEFAULT: APM(PoolMaxPower(), channel=PAIR, message=Predictions()),
    "APM pair, exploit": APMExploit(channel=PAIR, averaged=True),
    "APM pair, predictions, matched": APM(MatchedPower(), channel=PAIR, message=Predictions()),
}
"""The rule under test (`DEFAULT`), its rivals, and what it was made from."""
