"""What is run, on which data and which seeds, fixed before the first confirming trial.

Development may look at seeds below 1,000 and at ten data sets. The confirmation runs once, on
seeds from 10,000 up, on all conditions. A condition is a data set with a scaling and a prior:

- the 22 cells of the multi-class study: softmax regression, 150 labels after one of each class;
- the paper's 14 sets: its posterior with precision 0.01, 40 labels after one of each class;
- 12 sets that nobody here has used: precision 1, a constant column for the intercept, the labels
  of their kind.

Pools are capped at 1,000 rows. All methods of a trial share pool, test set and first labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from apm.posteriors import Bohning, Posterior, VariationalLogistic
from apm.studies.data.catalogue import CATALOGUE, PAPER_DATASETS, Dataset
from apm.studies.engine.study import Plan
from apm.studies.engine.trial import Run, Split, make_split, run_method
from apm.studies.multiclass.protocol import CELLS, LABELS, POOL_CAP
from apm.studies.paper.protocol import PRIOR_PRECISION, QUERIES
from apm.studies.rule.methods import methods
from apm.studies.streams import stream

FRESH = (
    "contraceptive", "marketing", "iris",
    "banana", "bands", "bupa", "magic", "mammographic", "pima", "ring", "titanic", "wisconsin",
)  # fmt: skip
DEVELOPED_ON = (
    "digits", "vehicle", "segment", "vowel", "penbased",
    "letterMN", "vehicle-full", "vehicle-cars", "austra", "cross",
)  # fmt: skip


@dataclass(frozen=True)
class Stage:
    """A part of the experiment: its first seed and the number of paired seeds."""

    name: str
    first_seed: int
    seeds: dict[str, int] = field(hash=False)  # by kind


DEVELOP = Stage("develop", 0, {"two": 10, "many": 5})
CONFIRM = Stage("confirm", 10_000, {"two": 40, "many": 20})


@dataclass(frozen=True)
class Condition:
    """A data set, a scaling of its features and a prior precision; `fresh` data has an intercept.

    >>> Condition("pima", "two", fresh=True).name
    'pima-standardised-1'
    """

    dataset: str
    kind: str  # "two" or "many" classes
    scaling: str = "standardised"
    precision: float = 1.0
    fresh: bool = False

    @property
    def name(self) -> str:
        """The condition in one word."""
        return f"{self.dataset}-{self.scaling}-{self.precision:g}"

    @property
    def labels(self) -> int:
        """How many labels are asked for, where the pool has as many."""
        return QUERIES if self.kind == "two" else LABELS


def conditions(stage: Stage) -> tuple[Condition, ...]:
    """The conditions of a stage, cells of many classes first.

    >>> len(conditions(CONFIRM)), len({c.dataset for c in conditions(DEVELOP)})
    (48, 10)
    """
    every = [Condition(cell.dataset, "many", cell.scaling, cell.precision) for cell in CELLS]
    every += [Condition(name, "two", precision=PRIOR_PRECISION) for name in PAPER_DATASETS]
    for name in FRESH:
        kind = "two" if len(CATALOGUE[name].classes) == 2 else "many"
        every.append(Condition(name, kind, fresh=True))
    if stage.name == DEVELOP.name:
        every = [each for each in every if each.dataset in DEVELOPED_ON]
    return tuple(every)


@dataclass(frozen=True)
class RulePlan(Plan):
    """A condition with its data: every method on every paired seed, all through `Learner`."""

    condition: Condition
    data: Dataset = field(repr=False)
    first_seed: int
    trials: int
    labels: int | None = None  # fewer, for a test
    methods: tuple[str, ...] = ()  # none stands for all

    def __post_init__(self) -> None:
        if not self.methods:
            object.__setattr__(self, "methods", tuple(methods(self.condition.kind)))

    @property
    def name(self) -> str:
        return self.condition.name

    @property
    def num_trials(self) -> int:
        return self.trials

    def with_methods(self, methods: Sequence[str]) -> RulePlan:
        return replace(self, methods=tuple(methods))

    def settings(self) -> dict[str, Any]:
        known = methods(self.condition.kind)
        return {
            "condition": self.condition.name,
            "fresh": self.condition.fresh,
            "data": self.data.digest,
            "first_seed": self.first_seed,
            "methods": {name: repr(known[name]) for name in self.methods},
            "labels": self.condition.labels if self.labels is None else self.labels,
            "pool": POOL_CAP,
            "loop": "Learner",
        }

    def split(self, trial: int) -> Split:
        """Pool, test set and first labels of a trial, the same for every method."""
        unit_norm = self.condition.scaling == "unit-norm"
        seed = self.first_seed + trial
        split = make_split(self.data, 0, seed=seed, cap=POOL_CAP, unit_norm=unit_norm)
        if not self.condition.fresh:
            return split
        return replace(split, pool=_with_constant(split.pool), test=_with_constant(split.test))

    def model(self) -> Posterior:
        """The posterior before any label."""
        classes, precision = np.arange(self.data.num_classes), self.condition.precision
        if self.condition.kind == "two":
            return VariationalLogistic(precision, classes=classes)
        return Bohning(len(classes), precision, classes=classes)

    def run(self, trial: int) -> list[Run]:
        split, known = self.split(trial), methods(self.condition.kind)
        wanted = self.condition.labels if self.labels is None else self.labels
        return [
            run_method(
                split,
                name,
                model=self.model(),
                selector=known[name],
                queries=min(wanted, len(split.labels) - len(split.seeds)),
                rng=stream(self.first_seed + trial, self.condition.dataset, "rule", name),
            )
            for name in self.methods
        ]


def _with_constant(rows: Any) -> Any:
    return np.ascontiguousarray(np.column_stack([rows, np.ones(len(rows))]))
