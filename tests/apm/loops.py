"""Data, models and a loop of asking and telling, for the tests of the learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Affine
from apm.learner import Learner
from apm.posteriors import Bohning, DiagonalHessian, KroneckerHessian, Laplace, VariationalLogistic
from channelcode.channels import Lapse, Logistic, Probit, Softmax

MODELS: list[tuple[Any, int]] = [
    (VariationalLogistic(0.1), 2),
    (VariationalLogistic(0.1, intercept=True), 2),
    (Laplace(Probit(), 0.1), 2),
    (Laplace(Lapse(Logistic(), 0.1), 0.5), 2),
    (Laplace(Softmax(3), 0.5), 3),
    (Laplace(Softmax(3), 0.5, structure=KroneckerHessian()), 3),
    (Laplace(Softmax(3), 0.5, structure=DiagonalHessian()), 3),
    (Bohning(3, 0.5), 3),
    (Belief(VariationalLogistic(0.1), Affine()), 2),
    (Belief(Laplace(Logistic(), 0.1), channel=Probit()), 2),
]


def labels_for(X: np.ndarray, classes: int) -> np.ndarray:
    return X[:, :classes].argmax(axis=1)


def data(rows: int = 30, features: int = 3, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    return X, (X[:, 0] + 0.3 * rng.normal(size=rows) > 0).astype(int)


def run(learner: Learner, labels: Any, steps: int) -> list[int]:
    picks = []
    for _ in range(steps):
        (index,) = learner.ask()
        learner.tell(index, labels[index])
        picks.append(int(index))
    return picks
