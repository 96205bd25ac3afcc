"""Results made up for the tests: accuracies about given levels, the same seconds for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from apm.studies.paper.results import Sheet


def sheet(
    name: str, levels: Mapping[Any, float], *, noise: float = 0.002, trials: int = 30
) -> Sheet:
    """Runs of 40 queries whose accuracies lie about the given levels, trial by trial."""
    rng = np.random.default_rng(len(name))
    methods = tuple(levels)
    shared = rng.normal(scale=0.05, size=(1, trials, 1))  # a hard split is hard for everybody
    own = rng.normal(scale=noise, size=(len(methods), trials, 41))
    curves = np.array(list(levels.values()))[:, None, None] + shared + own
    steps = rng.random((len(methods), trials, 40))
    seconds = np.full((len(methods), trials, 40), 1e-3)
    arrays = {"accuracy": curves}
    for measure in ("gain", "distance", "maximin", "gram"):
        arrays[measure] = steps.copy()
    for kind in ("select_seconds", "posterior_seconds", "retrain_seconds"):
        arrays[kind] = seconds.copy()
    return Sheet(name, methods, arrays)
