"""The paper's protocol: which methods run on which data, for how long, and what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from apm.belief import Belief
from apm.posteriors import VariationalLogistic
from apm.rounds import Round
from apm.studies.data.catalogue import PAPER_DATASETS, Dataset, load
from apm.studies.engine.study import Plan, Study, chosen
from apm.studies.engine.trial import Run, Split, make_split, run_method
from apm.studies.paper.exploration import (
    gram_log_determinants,
    hyperplane_distance,
    maximin_distances,
)
from apm.studies.paper.information import per_query_information
from apm.studies.paper.methods import ABLATIONS, ADDITIONS, CURVE_METHODS, METHODS, make_selector
from apm.studies.streams import stream
from channelcode._validation import integer, positive
from channelcode.errors import InvalidArgument

TRIALS = 150
QUERIES = 40
LONGER = {"vehicle-cars": None, "wdbc": 100}  # the whole pool; long enough to see the peak pass
PRIOR_PRECISION = 0.01


@dataclass(frozen=True)
class PaperPlan(Plan):
    """What is run on one data set of two classes (paper, section 4).

    The posterior is `VariationalLogistic(prior_precision)` and the power the paper's
    `SpectralPower`. `queries=None` goes on until the pool is exhausted. `diversity` adds the
    exploration measures of the failure analysis (appendix B.6). Methods in `brief` stop after 40
    queries where the others go on.
    """

    data: Dataset = field(repr=False)
    methods: tuple[str, ...]
    queries: int | None = QUERIES
    diversity: bool = False
    brief: tuple[str, ...] = ()
    trials: int = TRIALS
    seed: int = 0
    prior_precision: float = PRIOR_PRECISION

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", chosen("methods", self.methods, METHODS))
        object.__setattr__(self, "brief", tuple(self.brief))
        if not set(self.brief) <= set(self.methods):
            raise InvalidArgument("brief", "must be among the methods", self.brief)
        integer("trials", self.trials, least=1)
        integer("seed", self.seed, least=0)
        positive("prior_precision", self.prior_precision)
        if self.data.num_classes != 2:
            rule = f"must be a data set of two classes, not {self.data.num_classes}"
            raise InvalidArgument("data", rule, self.data.name)
        if self.queries is not None:
            integer("queries", self.queries, least=1)
            if self.queries > self._left:
                rule = f"must be at most {self._left}, what the pool of {self.name} has after the "
                raise InvalidArgument("queries", rule + "seeds", self.queries)

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def num_trials(self) -> int:
        return self.trials

    @property
    def num_queries(self) -> int:
        """The number of queries of the methods that are not brief."""
        return self._left if self.queries is None else self.queries

    @property
    def _left(self) -> int:
        return len(self.data.y) // 2 - self.data.num_classes

    def settings(self) -> dict[str, Any]:
        return {
            "dataset": self.data.name,
            "data": self.data.digest,
            "methods": list(self.methods),
            "queries": self.num_queries,
            "diversity": self.diversity,
            "brief": list(self.brief),
            "posterior": "VariationalLogistic",
            "prior_precision": self.prior_precision,
            "power": "SpectralPower",
            "loop": "Learner",
            "seed": self.seed,
        }

    def with_methods(self, methods: Sequence[str]) -> PaperPlan:
        chosen_now = tuple(methods)
        return replace(
            self, methods=chosen_now, brief=tuple(m for m in self.brief if m in chosen_now)
        )

    def run(self, trial: int) -> list[Run]:
        split = make_split(self.data, trial, seed=self.seed)
        return [
            run_paper_method(
                split,
                method,
                queries=min(self.num_queries, QUERIES)
                if method in self.brief
                else self.num_queries,
                rng=stream(self.seed, self.data.name, trial, "selector", method),
                prior_precision=self.prior_precision,
                diversity=self.diversity,
            )
            for method in self.methods
        ]


def model(prior_precision: float = PRIOR_PRECISION) -> VariationalLogistic:
    """The paper's posterior before any label, its two classes known."""
    return VariationalLogistic(prior_precision, classes=np.array([0, 1]))


def run_paper_method(
    split: Split,
    method: str,
    *,
    queries: int,
    rng: Any,
    prior_precision: float = PRIOR_PRECISION,
    diversity: bool = False,
) -> Run:
    """One method on one split, with the paper's measures and the information of every query."""
    mean, variance, power, distance = np.empty((4, max(queries, 0)))

    def observe(seen: Round) -> None:
        choice = seen.choice
        place = int(np.searchsorted(choice.candidates, seen.index))
        laws = choice.laws
        if laws is None:
            laws = Belief(seen.before).push(split.pool)[choice.candidates]
        mean[seen.number], variance[seen.number] = laws.mean[place], laws.total_variance[place]
        power[seen.number] = laws.second_moment.max()
        distance[seen.number] = hyperplane_distance(split.pool[seen.index], seen.before.map)

    run = run_method(
        split,
        method,
        model=model(prior_precision),
        selector=make_selector(method),
        queries=queries,
        rng=rng,
        observe=observe,
    )
    arrays = run.arrays | {"distance": distance, **per_query_information(mean, variance, power)}
    if diversity:
        picks = run.arrays["picks"]
        arrays["maximin"] = maximin_distances(split.pool, split.seeds, picks)
        arrays["gram"] = gram_log_determinants(split.pool, picks)
    return Run(method, arrays)


def plan_study(
    *,
    trials: int = TRIALS,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    queries: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> tuple[PaperPlan, ...]:
    """The plans of the paper: six methods and the additions everywhere, 40 queries.

    vehicle-cars also gets the two ablations and the exploration measures, and runs until its pool
    is exhausted (appendix B.6); wdbc runs for 100 queries. The additions stop at 40.
    `methods` and `queries` replace these everywhere.
    """
    plans = []
    for name in PAPER_DATASETS if datasets is None else datasets:
        failure = name == "vehicle-cars"
        usual = (*CURVE_METHODS, *(ABLATIONS if failure else ()), *ADDITIONS)
        own = tuple(usual if methods is None else methods)
        plans.append(
            PaperPlan(
                load(name, data_dir=data_dir),
                own,
                LONGER.get(name, QUERIES) if queries is None else queries,
                diversity=failure,
                brief=tuple(m for m in own if m in ADDITIONS) if name in LONGER else (),
                trials=trials,
                seed=seed,
            )
        )
    Study(plans)  # which checks that the names are different
    return tuple(plans)
