"""One run: the MAP of softmax regression with Bohning's covariance, updated label by label."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from apm.experiments.trial import Rows, Run, Split
from channelcode._validation import Array

TOLERANCE = 1e-2  # of the gradient, in units of the prior's root: moves no prediction visibly
MAX_STEPS = 300
_clock = time.process_time  # CPU seconds: another process on the machine does not count


class State:
    """What the rules see: the pool, the mean logits, and the covariance `(I - 11'/K) (x) B`.

    - `logits` `(n, K)`, `leverage` `(n,)` = x'Bx, `cross` `(n, t)` = x'Bx*, rows x* `targets`;
    - `free` `(n,)`: rows without a label; `rng`: the rule's own stream.

    B = (lambda I + X'X / 2)^-1 shrinks by rank one with every label (Sherman and Morrison), and so
    do the forms above; theta is the MAP, started from the last one.
    """

    def __init__(
        self,
        split: Split,
        *,
        precision: float,
        targets: Rows,
        rng: np.random.Generator,
    ) -> None:
        X = split.pool
        self.pool, self.precision, self.targets, self.rng = X, precision, targets, rng
        self.num_classes = int(split.labels.max()) + 1
        self.labels = split.labels.astype(np.int64)
        self.labelled = [int(row) for row in split.seeds]
        self.free = np.ones(len(X), dtype=bool)
        self.free[self.labelled] = False
        seeds = X[self.labelled]
        self.inverse = np.linalg.inv(precision * np.eye(X.shape[1]) + 0.5 * seeds.T @ seeds)
        image = X @ self.inverse
        self._cross: Array | None = None
        self.leverage = np.einsum("ij,ij->i", image, X)
        self.theta = np.zeros((self.num_classes, X.shape[1]))
        self.fit()

    @property
    def cross(self) -> Array:
        """x'Bx* for every row and target, `(n, t)`; kept up to date once it was asked for."""
        if self._cross is None:
            forms: Array = self.pool @ self.inverse @ self.pool[self.targets].T
            self._cross = forms
            return forms
        return self._cross

    def fit(self) -> None:
        """The MAP for the labels held, and the logits of the pool."""
        from apm._kernels.multiclass_fit import softmax_map

        rows = self.labelled
        self.theta, _ = softmax_map(
            self.pool[rows], self.labels[rows], self.theta, np.ascontiguousarray(self.inverse),
            self.precision, TOLERANCE * self.precision**0.5, MAX_STEPS,
        )  # fmt: skip
        self.logits = self.pool @ self.theta.T

    def add(self, row: int) -> None:
        """Take the label of a row: covariance first, then the mean."""
        image = self.inverse @ self.pool[row]
        along = self.pool @ image
        shrink = 1.0 / (2.0 + self.leverage[row])
        self.inverse -= shrink * np.outer(image, image)
        if self._cross is not None:
            self._cross -= np.outer(shrink * along, along[self.targets])
        self.leverage -= shrink * along * along
        self.labelled.append(row)
        self.free[row] = False
        self.fit()


def run_rule(
    split: Split,
    method: str,
    rule: Callable[[State], Array],
    *,
    precision: float,
    labels: int,
    targets: Rows,
    rng: np.random.Generator,
) -> Run:
    """Label `labels` rows by one rule: the highest score is asked, ties to the lowest row."""
    state = State(split, precision=precision, targets=targets, rng=rng)
    picks = np.empty(labels, dtype=np.int64)
    accuracy = np.empty(labels + 1)
    seconds = np.empty((2, labels))
    accuracy[0] = _accuracy(state, split)
    for step in range(labels):
        begin = _clock()
        scores = np.where(state.free, rule(state), -np.inf)
        row = int(np.argmax(scores))
        middle = _clock()
        state.add(row)
        seconds[:, step] = middle - begin, _clock() - middle
        picks[step] = row
        accuracy[step + 1] = _accuracy(state, split)
    arrays = {
        "picks": picks,
        "accuracy": accuracy,
        "select_seconds": seconds[0],
        "posterior_seconds": seconds[1],
    }
    return Run(method, arrays)


def _accuracy(state: State, split: Split) -> float:
    predicted = np.argmax(split.test @ state.theta.T, axis=1)
    return float(np.mean(predicted == split.test_labels))
