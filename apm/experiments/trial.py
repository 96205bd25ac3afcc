"""One trial: split, standardise, seed, then every method on the same start."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apm.belief import Belief
from apm.experiments.datasets import Dataset
from apm.experiments.information import per_query_information
from apm.experiments.methods import make_selector
from apm.experiments.metrics import (
    accuracy,
    gram_log_determinants,
    hyperplane_distance,
    maximin_distances,
)
from apm.experiments.streams import stream
from apm.posteriors import VariationalLogistic
from channelcode._validation import Array
from channelcode.errors import InvalidArgument

Rows = NDArray[np.int64]
BRIEF_QUERIES = 40
_clock = time.process_time  # CPU seconds: another process on the machine does not count


@dataclass(frozen=True)
class Split:
    """A pool and a test set, both standardised by the pool, and one labelled seed of each class."""

    pool: Array = field(repr=False)
    labels: Rows = field(repr=False)
    test: Array = field(repr=False)
    test_labels: Rows = field(repr=False)
    seeds: Rows


def make_split(data: Dataset, trial: int, *, seed: int) -> Split:
    """The split and the seeds of a trial: the same for every method (paper, section 4).

    Half of the examples (rounded down) are the pool, the rest the test set; the pool has mean zero
    and variance one in each coordinate, and the test set is moved along with it.
    """
    order = stream(seed, data.name, trial, "split").permutation(len(data.y))
    train, test = np.split(order, [len(order) // 2])
    draw = stream(seed, data.name, trial, "seeds")
    labels = data.y[train]
    if np.unique(labels).size < data.num_classes:
        rule = f"must have every class of {data.name!r} in the pool of trial {trial}"
        raise InvalidArgument("seed", rule, seed)
    seeds = [draw.choice(np.flatnonzero(labels == label)) for label in range(data.num_classes)]
    return standardised(data, train, test, np.array(seeds, dtype=np.int64))


def standardised(data: Dataset, train: Rows, test: Rows, seeds: Rows) -> Split:
    """The split with given rows: mean and population standard deviation are the pool's own."""
    pool = data.X[train]
    centre, scale = pool.mean(axis=0), pool.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)  # a constant column is zero, and stays so
    return Split(
        pool=np.ascontiguousarray((pool - centre) / scale),
        labels=data.y[train],
        test=np.ascontiguousarray((data.X[test] - centre) / scale),
        test_labels=data.y[test],
        seeds=seeds,
    )


@dataclass(frozen=True)
class Run:
    """What one method did in one trial; arrays have one entry per query, `accuracy` one more."""

    method: str
    arrays: dict[str, NDArray[Any]] = field(repr=False)


def start_belief(split: Split, *, prior_precision: float = 0.01) -> Belief:
    """The belief after the seed labels, shared by all methods of a trial."""
    posterior = VariationalLogistic(prior_precision, classes=np.array([0, 1]))
    return Belief(posterior.fit(split.pool[split.seeds], split.labels[split.seeds]))


def run_method(
    split: Split,
    method: str,
    *,
    queries: int,
    rng: np.random.Generator,
    start: Belief | None = None,
    diversity: bool = False,
) -> Run:
    """Label `queries` examples by one method; time selection, posterior and retraining apart.

    Only rows without a label are candidates, in the order of the pool: ties go to the lowest.
    """
    belief = start_belief(split) if start is None else start
    selector = make_selector(method, belief, split.pool)
    remaining = np.setdiff1d(np.arange(len(split.labels)), split.seeds)
    if not 0 < queries <= len(remaining):
        rule = f"must be between 1 and {len(remaining)}, what the pool has left after the seeds"
        raise InvalidArgument("queries", rule, queries)
    picks = np.empty(queries, dtype=np.int64)
    accuracies = np.empty(queries + 1)
    mean, variance, power, distance = np.empty((4, queries))
    seconds = np.empty((3, queries))
    theta = belief.posterior.map
    accuracies[0] = accuracy(split.test, split.test_labels, theta)
    for step in range(queries):
        begin = _clock()
        choice = selector.choose(belief, split.pool, remaining, rng=rng)
        seconds[0, step] = _clock() - begin
        row = int(choice.indices[0])
        place = int(np.searchsorted(remaining, row))
        laws = belief.push(split.pool)[remaining] if choice.laws is None else choice.laws
        mean[step], variance[step] = laws.mean[place], laws.total_variance[place]
        power[step] = laws.second_moment.max()
        distance[step] = hyperplane_distance(split.pool[row], theta)
        picks[step] = row
        remaining = np.delete(remaining, place)
        begin = _clock()
        belief = belief.update(split.pool[row], split.labels[row])
        middle = _clock()
        theta = belief.posterior.map
        seconds[1, step] = middle - begin
        seconds[2, step] = _clock() - middle
        accuracies[step + 1] = accuracy(split.test, split.test_labels, theta)
    arrays: dict[str, NDArray[Any]] = {
        "picks": picks,
        "accuracy": accuracies,
        "distance": distance,
        **per_query_information(mean, variance, power),
        "select_seconds": seconds[0],
        "posterior_seconds": seconds[1],
        "retrain_seconds": seconds[2],
    }
    if diversity:
        arrays["maximin"] = maximin_distances(split.pool, split.seeds, picks)
        arrays["gram"] = gram_log_determinants(split.pool, picks)
    return Run(method, arrays)


def run_trial(
    data: Dataset, trial: int, *, methods: tuple[str, ...], queries: int, seed: int,
    prior_precision: float, diversity: bool, brief: tuple[str, ...] = (),
) -> list[Run]:  # fmt: skip
    """Every method on the split, seeds and start of one trial, with a stream for each method.

    Methods in `brief` stop after 40 queries.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # one thread: the same rounding whoever runs the trial
        split = make_split(data, trial, seed=seed)
        start = start_belief(split, prior_precision=prior_precision)
        _ = start.posterior.map  # solved once, outside the clocks
        return [
            run_method(
                split,
                method,
                queries=min(queries, BRIEF_QUERIES) if method in brief else queries,
                rng=stream(seed, data.name, trial, "selector", method),
                start=start,
                diversity=diversity,
            )
            for method in methods
        ]
