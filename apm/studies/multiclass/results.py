"""The numbers of the study as small plain files, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from apm.studies.engine.statistics import (
    Interval,
    Ranks,
    average_ranks,
    bootstrap_interval,
    standard_error,
)
from apm.studies.engine.store import Store
from apm.studies.engine.tables import read_csv, write_csv
from apm.studies.engine.trial import area_under_curve
from apm.studies.multiclass.protocol import CELLS, Cell
from channelcode._validation import Array
from channelcode.errors import InvalidArgument

RIVALS = ("margin", "Bayesian margin", "EPIG")
EVERY = 5  # labels between two points of a committed curve


@dataclass(frozen=True)
class Comparison:
    """A method against the best of the rivals in one cell: paired difference of areas."""

    cell: Cell
    method: str
    rival: str
    difference: Interval

    @property
    def verdict(self) -> str:
        """'win', 'tie' or 'loss' by the 95 % interval of the paired difference."""
        if self.difference.low > 0:
            return "win"
        return "loss" if self.difference.high < 0 else "tie"


@dataclass(frozen=True)
class Outcomes:
    """Areas `[cell][method] (seeds,)`, curves `[cell][method] (points, 3)`, and query costs.

    A curve's columns are the labels asked, the mean accuracy and its standard error. `seconds`
    holds the median CPU time of one selection.
    """

    areas: dict[Cell, dict[str, Array]]
    curves: dict[Cell, dict[str, Array]]
    seconds: dict[Cell, dict[str, float]]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in the order of the study."""
        return tuple(next(iter(self.areas.values())))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, in the order of the study."""
        return tuple(self.areas)

    def mean(self, cell: Cell, method: str) -> float:
        """The mean area of a method in a cell."""
        return float(self.areas[cell][method].mean())

    def rival(self, cell: Cell) -> str:
        """The best of margin, Bayesian margin and EPIG in a cell, by mean area."""
        there = [name for name in RIVALS if name in self.areas[cell]]
        if not there:
            raise InvalidArgument("methods", f"must hold one of {', '.join(RIVALS)}", self.methods)
        return max(there, key=lambda name: self.mean(cell, name))

    def compare(self, cell: Cell, method: str, rival: str | None = None) -> Comparison:
        """Paired difference of `method` and the cell's best rival (or a given one)."""
        against = self.rival(cell) if rival is None else rival
        difference = self.areas[cell][method] - self.areas[cell][against]
        return Comparison(cell, method, against, bootstrap_interval(difference))

    def tally(self, method: str, *, fresh: bool | None = None) -> tuple[int, int, int]:
        """Wins, ties and losses against the best rival; `fresh` picks unseen data sets, or seen."""
        cells = [cell for cell in self.cells if fresh is None or cell.fresh is fresh]
        verdicts = [self.compare(cell, method).verdict for cell in cells]
        return verdicts.count("win"), verdicts.count("tie"), verdicts.count("loss")

    def ranks(self) -> Ranks:
        """Average ranks over the cells."""
        table = [[self.mean(cell, name) for name in self.methods] for cell in self.cells]
        return average_ranks(table, self.methods)


def write_results(
    store: Store, counts: dict[Cell, int], folder: Path, marks: dict[str, str] | None = None
) -> None:
    """Write `areas.csv`, `curves.csv` and `seconds.csv` from the finished trials.

    `marks` are the fingerprints of the cells' plans by name; trials of others are refused.
    """
    areas, curves, seconds = [], [], []
    methods: tuple[str, ...] = ()
    for cell, count in counts.items():
        mark = None if marks is None else marks[cell.name]
        wanted = ("accuracy", "select_seconds")
        trials = list(store.runs(cell.name, count, wanted, fingerprint=mark))
        methods = tuple(run.method for run in trials[0])
        accuracy = np.array([[run.arrays["accuracy"] for run in runs] for runs in trials])
        for trial, rows in enumerate(area_under_curve(accuracy)):
            areas.append((cell.name, trial, *(f"{value:.5f}" for value in rows)))
        mean, error = accuracy.mean(axis=0), standard_error(accuracy)
        for place, method in enumerate(methods):
            for asked in range(0, accuracy.shape[2], EVERY):
                point = f"{mean[place, asked]:.4f}", f"{error[place, asked]:.4f}"
                curves.append((cell.name, method, asked, *point))
            times = [runs[place].arrays["select_seconds"] for runs in trials]
            seconds.append((cell.name, method, f"{np.median(times):.2e}"))
    write_csv(folder / "areas.csv", ("cell", "seed", *methods), areas)
    write_csv(folder / "curves.csv", ("cell", "method", "asked", "accuracy", "error"), curves)
    write_csv(folder / "seconds.csv", ("cell", "method", "median_seconds"), seconds)


def read_results(folder: str | Path) -> Outcomes:
    """Read the files of `write_results`; the tables and the page come from them alone."""
    place = Path(folder)
    known = {cell.name: cell for cell in CELLS}
    areas: dict[Cell, dict[str, list[float]]] = {}
    for row in read_csv(place / "areas.csv"):
        cell = known[row.pop("cell")]
        row.pop("seed")
        for method, value in row.items():
            areas.setdefault(cell, {}).setdefault(method, []).append(float(value))
    curves: dict[Cell, dict[str, list[tuple[float, float, float]]]] = {}
    for row in read_csv(place / "curves.csv"):
        point = float(row["asked"]), float(row["accuracy"]), float(row["error"])
        curves.setdefault(known[row["cell"]], {}).setdefault(row["method"], []).append(point)
    seconds: dict[Cell, dict[str, float]] = {}
    for row in read_csv(place / "seconds.csv"):
        seconds.setdefault(known[row["cell"]], {})[row["method"]] = float(row["median_seconds"])
    return Outcomes(
        {cell: {m: np.array(v) for m, v in by.items()} for cell, by in areas.items()},
        {cell: {m: np.array(v) for m, v in by.items()} for cell, by in curves.items()},
        seconds,
    )
