"""The fixed protocol: cells, scalings, seeds, and how a cell is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from apm.posteriors import Bohning
from apm.studies.data.catalogue import Dataset
from apm.studies.engine.study import Plan
from apm.studies.engine.trial import Run, Split, make_split, run_method
from apm.studies.multiclass.methods import METHODS
from apm.studies.streams import stream

Scaling = Literal["standardised", "unit-norm"]
LABELS = 150  # asked after one seed label for each class
POOL_CAP = 1000
DATASETS = (
    "digits", "vehicle", "segment",
    "satimage", "vowel", "penbased", "optdigits", "texture", "letter",
)  # fmt: skip
CHOSEN_ON = ("digits", "vehicle", "segment")  # the rule was chosen on these; the others are fresh
WEAK_PRIOR = ("digits", "vehicle")  # run with precision 0.01 as well


@dataclass(frozen=True)
class Cell:
    """One condition of the study: a data set, a scaling of the features, a prior precision.

    >>> Cell("digits", "unit-norm", 0.01).name
    'digits-unit-norm-0.01'
    """

    dataset: str
    scaling: Scaling
    precision: float

    @property
    def name(self) -> str:
        """The cell in one word."""
        return f"{self.dataset}-{self.scaling}-{self.precision:g}"

    @property
    def seeds(self) -> int:
        """The number of paired seeds."""
        return 20 if self.dataset in CHOSEN_ON else 10

    @property
    def fresh(self) -> bool:
        """Whether the rule has never seen this data set."""
        return self.dataset not in CHOSEN_ON


_SCALINGS: tuple[Scaling, ...] = ("standardised", "unit-norm")
CELLS: tuple[Cell, ...] = tuple(
    [Cell(name, scaling, 1.0) for name in DATASETS for scaling in _SCALINGS]
    + [Cell(name, scaling, 0.01) for name in WEAK_PRIOR for scaling in _SCALINGS]
)


def list_cells() -> tuple[str, ...]:
    """The names of all cells."""
    return tuple(cell.name for cell in CELLS)


@dataclass(frozen=True)
class CellPlan(Plan):
    """A cell with its data: every method on every paired seed, all through `Learner`.

    The model is softmax regression, `Bohning(K, precision)`: its mean is the MAP.
    """

    cell: Cell
    data: Dataset = field(repr=False)
    methods: tuple[str, ...]
    trials: int
    labels: int = LABELS
    seed: int = 0

    @property
    def name(self) -> str:
        return self.cell.name

    @property
    def num_trials(self) -> int:
        return self.trials

    def settings(self) -> dict[str, Any]:
        return {
            "cell": self.cell.name,
            "data": self.data.digest,
            "methods": {name: repr(METHODS[name]) for name in self.methods},
            "labels": self.labels,
            "pool": POOL_CAP,
            "posterior": "Bohning",
            "loop": "Learner",
            "seed": self.seed,
        }

    def with_methods(self, methods: Sequence[str]) -> CellPlan:
        return replace(self, methods=tuple(methods))

    def split(self, trial: int) -> Split:
        """The pool, the test set and the seed labels of a trial; cells of one data set share them.

        Pools are capped at 1,000 by a seeded draw; for unit-norm features every row is divided by
        its norm after the columns were standardised.
        """
        unit_norm = self.cell.scaling == "unit-norm"
        return make_split(self.data, trial, seed=self.seed, cap=POOL_CAP, unit_norm=unit_norm)

    def run(self, trial: int) -> list[Run]:
        split = self.split(trial)
        classes = np.arange(self.data.num_classes)
        return [
            run_method(
                split,
                method,
                model=Bohning(len(classes), self.cell.precision, classes=classes),
                selector=METHODS[method],
                queries=min(self.labels, len(split.labels) - len(split.seeds)),
                rng=stream(self.seed, self.cell.dataset, trial, "rule", method),
            )
            for method in self.methods
        ]
