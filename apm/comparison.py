"""Selectors compared on data of one's own: every label known, the labelling simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.answering import default_encoder, default_posterior
from apm.belief import Belief
from apm.learner import Learner
from apm.pools.inputs import as_matrix
from apm.posteriors.base import Posterior
from apm.posteriors.labels import as_labels
from apm.rounds import Round
from apm.selectors import Random, Selector
from apm.selectors.default import default_selector
from apm.storage.frames import frame
from apm.studies.engine.execution import Task, results_of
from apm.studies.engine.progress import Progress
from apm.studies.engine.statistics import Interval, bootstrap_interval
from apm.studies.engine.study import Plan
from apm.studies.engine.trial import Run, area_under_curve
from apm.studies.streams import stream
from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Comparison:
    """Paired learning curves: in each trial all selectors see the same split and the same start.

    `accuracy` `(selectors, trials, labels + 1)` is on the half of the data that was held back,
    after 0, 1, ... labels beyond the first one of each class.
    """

    names: tuple[str, ...]
    accuracy: Array = field(repr=False)

    @property
    def areas(self) -> Array:
        """The mean accuracy over the labels asked, `(selectors, trials)`."""
        return area_under_curve(self.accuracy)

    def mean(self, name: str) -> Array:
        """The mean curve of a selector, `(labels + 1,)`."""
        return self.accuracy[self._place(name)].mean(axis=0)

    def difference(self, name: str, other: str) -> Interval:
        """The mean difference of area between two selectors, with a paired 95 % interval."""
        return bootstrap_interval(self.areas[self._place(name)] - self.areas[self._place(other)])

    def to_frame(self) -> Any:
        """A pandas DataFrame: selector, trial, labels asked, accuracy."""
        selectors, trials, points = self.accuracy.shape
        index = np.indices(self.accuracy.shape).reshape(3, selectors * trials * points)
        columns = {
            "selector": np.array(self.names, dtype=object)[index[0]],
            "trial": index[1],
            "asked": index[2],
            "accuracy": self.accuracy.ravel(),
        }
        return frame(columns)

    def __str__(self) -> str:
        areas = self.areas.mean(axis=1)
        order = np.argsort(-areas, kind="stable")
        best = self.names[int(order[0])]
        width = max(len(name) for name in self.names)
        trials, asked = self.accuracy.shape[1], self.accuracy.shape[2] - 1
        lines = [f"mean accuracy over {asked} labels, {trials} paired trials; behind the best by"]
        for place in order:
            name = self.names[int(place)]
            line = f"{name:<{width}}  {areas[place]:.4f}"
            if name != best:
                gap = self.difference(best, name)
                line += f"  {gap.estimate:.4f} ({gap.low:.4f} to {gap.high:.4f})"
            lines.append(line)
        return "\n".join(lines)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InvalidArgument("name", f"must be one of {list(self.names)}", name)
        return self.names.index(name)


@dataclass(frozen=True)
class _OwnData(Plan):
    """One data set, some selectors: a plan of the study engine."""

    X: Array = field(repr=False)
    codes: Any = field(repr=False)
    selectors: dict[str, Selector]
    model: Posterior | None
    labels: int
    trials: int
    seed: int

    @property
    def name(self) -> str:
        return "own"

    @property
    def num_trials(self) -> int:
        return self.trials

    def settings(self) -> dict[str, Any]:
        return {"selectors": list(self.selectors), "labels": self.labels, "seed": self.seed}

    def run(self, trial: int) -> list[Run]:
        order = stream(self.seed, "own", trial, "split").permutation(len(self.codes))
        train, test = np.split(order, [len(order) // 2])
        pool, labels, count = self.X[train], self.codes[train], int(self.codes.max()) + 1
        draw = stream(self.seed, "own", trial, "seeds")
        known = [draw.choice(np.flatnonzero(labels == code)) for code in np.unique(labels)]
        model = self.model
        if model is None:
            model = default_posterior(count, np.arange(count))
        belief = Belief(model, default_encoder(pool))
        runs = []
        for name, selector in self.selectors.items():
            rng = stream(self.seed, "own", trial, "rule", name)
            learner = Learner(pool, belief, selector, seed=rng)
            learner.tell(known, labels[known])
            runs.append(Run(name, {"accuracy": self._followed(learner, labels, test)}))
        return runs

    def _followed(self, learner: Learner, labels: Any, test: Any) -> Array:
        """The accuracy on the test rows before the first question and after each."""
        X, y = self.X[test], self.codes[test]
        found = [float(np.mean(learner.predict(X) == y))]

        def look(_: Round) -> None:
            found.append(float(np.mean(learner.predict(X) == y)))

        learner.run(labels, min(self.labels, len(learner.remaining)), observe=look)
        return np.array(found + [found[-1]] * (self.labels + 1 - len(found)))


def compare(
    X: ArrayLike,
    y: ArrayLike,
    selectors: Sequence[Selector] | Mapping[str, Selector] | None = None,
    *,
    model: Posterior | None = None,
    labels: int = 50,
    trials: int = 10,
    rng: int = 0,
    workers: int = 1,
    dask: Any = None,
    progress: bool = False,
) -> Comparison:
    """Run selectors on labelled data X `(n, d)`, y `(n,)`, each from the same start, and compare.

    In each trial half of the rows, at random, is the pool and the other half is held back; one row
    of each class is told, then `labels` more as the selector asks. The model is the library's own
    choice for that many classes unless given, on standardised features. `selectors` is a list, or a
    dictionary by name; by default the library's rule and `Random()`. `workers` processes share the
    trials, or the Dask cluster `dask` (an address, a scheduler file, a cluster or a client), with
    the same result; `progress=True` shows how many are finished.

    >>> import numpy as np
    >>> from apm import Margin, Random
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> rules = {"margin": Margin(), "random": Random()}
    >>> found = compare(X, X[:, 0] > 0, rules, labels=5, trials=3)
    >>> found.names, found.accuracy.shape
    (('margin', 'random'), (2, 3, 6))
    """
    matrix = as_matrix(X).astype(np.float64, copy=False)
    values = as_labels(y)
    if len(values) != len(matrix):
        raise InvalidArgument(
            "y", f"must have one label for each of {len(matrix)} rows", len(values)
        )
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) < 2 or len(matrix) < 4:
        raise InvalidArgument("y", "must have two classes or more, in four rows or more", classes)
    chosen = _by_name(selectors, len(classes), model)
    plan = _OwnData(
        matrix, codes, chosen, model,
        integer("labels", labels, least=1), integer("trials", trials, least=1),
        integer("rng", rng, least=0),
    )  # fmt: skip
    tasks = (Task(plan, trial) for trial in range(plan.trials))
    curves: Array = np.empty((len(chosen), plan.trials, plan.labels + 1))
    results = results_of(tasks, integer("workers", workers, least=1), dask)
    with Progress(plan.trials, shown=progress) as display:
        for name, trial, runs, _ in results:
            curves[:, trial] = [run.arrays["accuracy"] for run in runs]
            display.advance(f"{name} {trial}")
    return Comparison(tuple(chosen), curves)


def _by_name(selectors: Any, num_classes: int, model: Posterior | None) -> dict[str, Selector]:
    if selectors is None:
        belief = Belief(default_posterior(num_classes) if model is None else model)
        selectors = {"default": default_selector(belief), "random": Random()}
    if not isinstance(selectors, Mapping):
        listed = list(selectors)
        selectors = {repr(selector): selector for selector in listed}
        if len(selectors) < len(listed):
            raise InvalidArgument("selectors", "must differ", listed)
    for name, selector in selectors.items():
        if not isinstance(selector, Selector):
            raise InvalidArgument("selectors", "must be selectors such as Margin()", selector)
        if not isinstance(name, str):
            raise InvalidArgument("selectors", "must have names", name)
    if not selectors:
        raise InvalidArgument("selectors", "must be one or more", selectors)
    return dict(selectors)
