"""The finished trials of a study as arrays, and the summaries that tables and figures share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from apm.studies.engine.statistics import Interval, bootstrap_interval
from apm.studies.engine.store import Store
from apm.studies.engine.trial import area_under_curve
from apm.studies.paper.protocol import QUERIES, PaperPlan
from channelcode._validation import Array

CURVES = ("accuracy",)
SECONDS = ("select_seconds", "posterior_seconds", "retrain_seconds")
INFORMATION = ("gain", "capacity", "bound", "transport_bound")
FAILURE = ("distance", "maximin", "gram")


@dataclass(frozen=True)
class Sheet:
    """The runs on one data set: `arrays[name]` is (methods, trials, queries or queries + 1).

    A method that stopped earlier has nan from there on.
    """

    dataset: str
    methods: tuple[str, ...]
    arrays: dict[str, NDArray[np.float64]] = field(repr=False)

    def of(self, method: str, name: str) -> Array:
        """One method's values, (trials, queries)."""
        if method not in self.methods:
            raise KeyError(f"{method} on {self.dataset}")
        return self.arrays[name][self.methods.index(method)]

    @cached_property
    def areas(self) -> dict[str, Array]:
        """The area under the curve of the first 40 queries, (trials,) for each method."""
        curves = self.arrays["accuracy"][:, :, : QUERIES + 1]
        return dict(zip(self.methods, area_under_curve(curves), strict=True))

    def difference(self, first: str, second: str) -> Interval:
        """The paired difference of two areas, with its bootstrap interval over trials."""
        for method in (first, second):
            if method not in self.areas:
                raise KeyError(f"{method} on {self.dataset}")
        return bootstrap_interval(self.areas[first] - self.areas[second])

    def cumulative_seconds(self, method: str) -> dict[str, float]:
        """The paper's three costs: median over trials of the seconds of the first 40 queries."""
        select, posterior, retrain = (
            self.of(method, name)[:, :QUERIES].sum(axis=1) for name in SECONDS
        )
        return {
            "selection": float(np.median(select)),
            "posterior": float(np.median(posterior)),
            "retraining": float(np.median(retrain)),
            "total": float(np.median(select + posterior + retrain)),
        }


def read_sheet(plan: PaperPlan, store: Store, names: tuple[str, ...] = ()) -> Sheet:
    """The arrays `names` (default: all that the report needs) of every trial of a plan."""
    wanted = names or (*CURVES, *SECONDS, *INFORMATION, *FAILURE)
    arrays: dict[str, NDArray[np.float64]] = {}
    trials = store.runs(plan.name, plan.trials, wanted, fingerprint=plan.fingerprint())
    for trial, runs in enumerate(trials):
        for place, run in enumerate(runs):
            for name, values in run.arrays.items():
                if name not in arrays:
                    length = plan.num_queries + (name == "accuracy")
                    arrays[name] = np.full((len(runs), plan.trials, length), np.nan)
                arrays[name][place, trial, : len(values)] = values
    return Sheet(plan.name, plan.methods, arrays)


def read_sheets(plans: Iterable[PaperPlan], store: Store) -> dict[str, Sheet]:
    """The sheets of all plans by data set."""
    return {plan.name: read_sheet(plan, store) for plan in plans}


def where_time_goes(sheets: dict[str, Sheet], cpu_seconds: float) -> dict[str, float]:
    """CPU seconds of the stored trials by what they were spent on; the rest is measuring."""
    totals = {
        label: sum(float(np.nansum(sheet.arrays[name])) for sheet in sheets.values())
        for label, name in zip(("selection", "posterior", "retraining"), SECONDS, strict=True)
    }
    rest = cpu_seconds - sum(totals.values())
    return {**totals, "measuring": rest} if rest > 0 else totals
