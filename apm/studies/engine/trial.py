"""One trial: split, standardise, seed; then every method through `Learner` on the same start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apm.learner import Learner
from apm.posteriors.base import Posterior
from apm.rounds import Round
from apm.selectors.base import Selector
from apm.studies.data.catalogue import Dataset
from apm.studies.streams import stream
from channelcode._validation import Array
from channelcode.errors import InvalidArgument

Rows = NDArray[np.int64]
_clock = time.process_time  # CPU seconds: another process on the machine does not count


@dataclass(frozen=True)
class Split:
    """A pool and a test set, both standardised by the pool, and one labelled row of each class."""

    pool: Array = field(repr=False)
    labels: Rows = field(repr=False)
    test: Array = field(repr=False)
    test_labels: Rows = field(repr=False)
    seeds: Rows


@dataclass(frozen=True)
class Run:
    """What one method did in one trial; arrays have one entry per query, `accuracy` one more."""

    method: str
    arrays: dict[str, NDArray[Any]] = field(repr=False)


def make_split(
    data: Dataset, trial: int, *, seed: int, cap: int | None = None, unit_norm: bool = False
) -> Split:
    """The split and the seed labels of a trial: the same for every method (paper, section 4).

    Half of the examples (rounded down) are the pool, at most `cap` of them by a seeded draw; the
    rest is the test set. The split depends on the data set, the trial and the seed alone.
    """
    order = stream(seed, data.name, trial, "split").permutation(len(data.y))
    train, test = np.split(order, [len(order) // 2])
    if cap is not None and len(train) > cap:
        train = stream(seed, data.name, trial, "cap").choice(train, cap, replace=False)
    draw = stream(seed, data.name, trial, "seeds")
    labels = data.y[train]
    if np.unique(labels).size < data.num_classes:
        rule = f"must have every class of {data.name!r} in the pool of trial {trial}"
        raise InvalidArgument("seed", rule, seed)
    seeds = [draw.choice(np.flatnonzero(labels == label)) for label in range(data.num_classes)]
    return standardised(data, train, test, np.array(seeds, dtype=np.int64), unit_norm=unit_norm)


def standardised(
    data: Dataset, train: Rows, test: Rows, seeds: Rows, *, unit_norm: bool = False
) -> Split:
    """The split with given rows: mean zero and variance one in each column of the pool.

    The test set is moved along. With `unit_norm` every row is then divided by its norm.
    """
    pool = data.X[train]
    centre, scale = pool.mean(axis=0), pool.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)  # a constant column is zero, and stays so

    def scaled(rows: Array) -> Array:
        moved = (rows - centre) / scale
        if unit_norm:
            norm = np.linalg.norm(moved, axis=1, keepdims=True)
            moved /= np.where(norm > 0, norm, 1.0)
        return np.ascontiguousarray(moved)

    return Split(
        pool=scaled(pool),
        labels=data.y[train],
        test=scaled(data.X[test]),
        test_labels=data.y[test],
        seeds=seeds,
    )


def accuracy(X: Array, y: Rows, theta: Array) -> float:
    """The share of examples that the weights `theta` classify right.

    X (n, d), y (n,). For theta (d,) label 1 is x'theta > 0; for theta (K, d) the largest of
    theta x decides.

    >>> accuracy(np.array([[1.0], [-1.0]]), np.array([1, 1]), np.array([2.0]))
    0.5
    """
    if theta.ndim == 1:
        return float(np.mean((X @ theta > 0) == (y == 1)))
    return float(np.mean(np.argmax(X @ theta.T, axis=1) == y))


def area_under_curve(curves: Array) -> Array:
    """The mean accuracy over the queries (seed labels excluded), along the last axis.

    curves (..., queries + 1) with the accuracy before the first query in place 0; returns (...).

    >>> float(area_under_curve(np.array([0.0, 0.5, 1.0])))
    0.75
    """
    return np.mean(np.asarray(curves)[..., 1:], axis=-1)


def started(split: Split, model: Posterior, selector: Selector, rng: Any) -> Learner:
    """A learner on the pool that has been told the seed labels."""
    learner = Learner(split.pool, model, selector, seed=rng)
    learner.tell(split.seeds, split.labels[split.seeds])
    return learner


def run_method(
    split: Split,
    method: str,
    *,
    model: Posterior,
    selector: Selector,
    queries: int,
    rng: Any,
    observe: Callable[[Round], object] | None = None,
) -> Run:
    """Label `queries` examples by one selector; time selection, posterior and retraining apart.

    Retraining is whatever the most probable weights cost beyond the posterior. `observe` sees every
    round after it was recorded, outside the clocks.
    """
    learner = started(split, model, selector, rng)
    left = len(learner.remaining)
    if not 0 < queries <= left:
        rule = f"must be between 1 and {left}, what the pool has left after the seeds"
        raise InvalidArgument("queries", rule, queries)
    picks = np.empty(queries, dtype=np.int64)
    accuracies = np.empty(queries + 1)
    seconds = np.empty((3, queries))
    accuracies[0] = accuracy(split.test, split.test_labels, learner.belief.posterior.map)

    def record(seen: Round) -> None:
        begin = _clock()
        theta = seen.after.map
        seconds[:, seen.number] = seen.select_seconds, seen.update_seconds, _clock() - begin
        picks[seen.number] = seen.index
        accuracies[seen.number + 1] = accuracy(split.test, split.test_labels, theta)
        if observe is not None:
            observe(seen)

    learner.run(split.labels, queries, observe=record, clock=_clock)
    names = ("select_seconds", "posterior_seconds", "retrain_seconds")
    return Run(
        method, {"picks": picks, "accuracy": accuracies, **dict(zip(names, seconds, strict=True))}
    )
