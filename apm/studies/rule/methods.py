"""Candidates and rivals by name, for two classes and for more."""

from __future__ import annotations

from typing import Any

from apm.power import MatchedPower, PoolMaxPower, SharePower, SignalPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    ContestedPair,
    Entropy,
    InformationGain,
    Margin,
    MaxVariance,
    Predictions,
    Random,
    Selector,
    Uncertainty,
)

PRESENT = "present rule"  # the default when the experiment began
SAMPLES = 100


def _candidates(**options: Any) -> dict[str, Selector]:
    """The rules under test; they differ in the budget, and in whether the signal is charged."""
    return {
        "b-lin": APM(SignalPower(), charged=False, **options),
        "b-var": APM(SignalPower(), **options),
        "share": APM(SharePower(), **options),
        "matched": APM(MatchedPower(), **options),
    }


_TWO: dict[str, Any] = {"message": Predictions()}
_MANY: dict[str, Any] = {"channel": ContestedPair(), "message": Predictions()}

CANDIDATES: dict[str, dict[str, Selector]] = {
    "two": {
        PRESENT: APM(**_TWO),
        "pool maximum": APM(PoolMaxPower(), **_TWO),
        **_candidates(**_TWO),
    },
    "many": {PRESENT: APM(PoolMaxPower(), **_MANY), **_candidates(**_MANY)},
}
RIVALS: dict[str, dict[str, Selector]] = {
    "two": {
        "uncertainty": Uncertainty(),
        "EPIG": EPIG(),
        "BALD": BALD(SAMPLES),
        "information gain": InformationGain(),
        "APM-LR": APM(),
        "largest variance": MaxVariance(),
        "random": Random(),
    },
    "many": {
        "margin": Margin(),
        "Bayesian margin": Margin(bayesian=True, samples=SAMPLES),
        "EPIG": EPIG(SAMPLES, num_targets=32),
        "BALD": BALD(SAMPLES),
        "entropy": Entropy(),
        "random": Random(),
    },
}


def methods(kind: str) -> dict[str, Selector]:
    """Every method of a kind, `"two"` or `"many"` classes, by name."""
    return {**CANDIDATES[kind], **RIVALS[kind]}
