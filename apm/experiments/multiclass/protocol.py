"""The fixed protocol: cells, splits, scalings, seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from apm.experiments.datasets import Dataset
from apm.experiments.streams import stream
from apm.experiments.trial import Split
from channelcode._validation import Array
from channelcode.errors import InvalidArgument

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


def split_cell(data: Dataset, cell: Cell, trial: int, *, seed: int = 0) -> Split:
    """Half of the examples are the pool, capped at 1,000 by a seeded draw; the rest is the test.

    Columns are standardised by the pool; for unit-norm features every row is then divided by its
    norm. The split depends on the data set and the trial alone, so cells of one data set share it.
    """
    order = stream(seed, data.name, trial, "split").permutation(len(data.y))
    train, test = np.split(order, [len(order) // 2])
    if len(train) > POOL_CAP:
        train = stream(seed, data.name, trial, "cap").choice(train, POOL_CAP, replace=False)
    labels = data.y[train]
    if np.unique(labels).size < data.num_classes:
        rule = f"must have every class of {data.name!r} in the pool of trial {trial}"
        raise InvalidArgument("seed", rule, seed)
    draw = stream(seed, data.name, trial, "seeds")
    seeds = [draw.choice(np.flatnonzero(labels == label)) for label in range(data.num_classes)]
    pool = data.X[train]
    centre, deviation = pool.mean(axis=0), pool.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)  # a constant column stays zero
    return Split(
        pool=_scaled((pool - centre) / deviation, cell.scaling),
        labels=labels,
        test=_scaled((data.X[test] - centre) / deviation, cell.scaling),
        test_labels=data.y[test],
        seeds=np.array(seeds, dtype=np.int64),
    )


def _scaled(rows: Array, scaling: Scaling) -> Array:
    if scaling == "standardised":
        return np.ascontiguousarray(rows)
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(norm > 0, norm, 1.0))
