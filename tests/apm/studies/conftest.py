"""Small data sets and studies that the tests of the experiments share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from apm.studies.data.catalogue import Dataset
from apm.studies.engine.study import Study
from apm.studies.paper.protocol import PaperPlan

SMALL_METHODS = ("APM-LR", "Uncertainty", "Random", "InfoGain")


def small_dataset(name: str = "small", *, rows: int = 60, seed: int = 0) -> Dataset:
    """Two Gaussian clouds in three dimensions."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, 3)) + 0.8 * (2 * y[:, None] - 1)
    return Dataset(name, X, y.astype(np.int64), ("0", "1"), "made for the tests")


@pytest.fixture
def make_study() -> Callable[..., Study]:
    """A study on small data; options replace those of the study."""

    def build(
        *, methods: tuple[str, ...] = SMALL_METHODS, queries: int | None = 6, trials: int = 3,
        seed: int = 0, names: tuple[str, ...] = ("small", "other"),
    ) -> Study:  # fmt: skip
        return Study(
            [
                PaperPlan(
                    small_dataset(name, seed=place), methods, queries,
                    diversity=place == 0, trials=trials, seed=seed,
                )
                for place, name in enumerate(names)
            ]
        )  # fmt: skip

    return build
