"""What a multi-class selection costs: the logit covariances of a pool, and the rules of the study.

Run `python benchmarks/bench_multiclass.py [--rows N]`. CPU time of one core, the best of three.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from apm.belief import Belief
from apm.posteriors import Bohning, KroneckerHessian, Laplace
from apm.power import PoolMaxPower
from apm.selectors import APM, BALD, ContestedPair, Margin, Predictions
from channelcode.channels import Softmax

FEATURES, CLASSES, LABELS = 128, 10, 400


def seconds(function: Callable[[], Any], repeats: int = 3) -> float:
    """CPU seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def labelled(rows: int, features: int, classes: int, rng: np.random.Generator):
    """A pool with classes that overlap, and the labels of its first rows."""
    centres = rng.normal(size=(classes, features))
    y = rng.integers(0, classes, size=rows)
    X = 0.6 * centres[y] + rng.normal(size=(rows, features))
    return X / np.sqrt(features) * 4.0, y


def pool_covariances(rows: int) -> None:
    """S_x for the whole pool, against Bayesian information gain with 100 samples."""
    rng = np.random.default_rng(0)
    X, y = labelled(rows, FEATURES, CLASSES, rng)
    single = X.astype(np.float32)
    full = Belief(Laplace(Softmax(CLASSES), 1.0).fit(X[:LABELS], y[:LABELS]))
    bound = Belief(Bohning(CLASSES, 1.0).fit(X[:LABELS], y[:LABELS]))
    covariance = full.posterior.covariance
    print(f"pool {rows} x {FEATURES}, {CLASSES} classes, {LABELS} labels (CPU seconds, one core)")
    rule = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(num_targets=200))
    for name, call in (
        ("S_x, full Laplace, float32 (the numbers alone)", lambda: covariance.spread(single)),
        ("S_x, full Laplace, float64 (the numbers alone)", lambda: covariance.spread(X)),
        ("belief.push, full Laplace, float32 (checked laws)", lambda: full.push(single)),
        ("belief.push, Bohning, float64", lambda: bound.push(X)),
        ("APM pair, predictions (Bohning)", lambda: rule.scores(bound, X)),
        ("BALD, 100 samples (Bohning)", lambda: BALD(100).scores(bound, X, rng=0)),
        ("BALD, 100 samples (full Laplace)", lambda: BALD(100).scores(full, X, rng=0)),
        ("margin", lambda: Margin().scores(bound, X)),
    ):
        print(f"  {name:52s} {seconds(call, repeats=2):8.3f} s")


def kronecker_error() -> None:
    """How far the Kronecker forms are from the full covariance: digits, 200 labels."""
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    X, y = np.asarray(bunch["data"]), np.asarray(bunch["target"])
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    rows = np.random.default_rng(0).permutation(len(y))
    train, pool = rows[:200], X[rows[200:1200]]
    exact = Belief(Laplace(Softmax(10), 1.0).fit(X[train], y[train])).push(pool)
    print("S_x on digits, 200 labels: relative Frobenius error against the full Laplace form")
    forms = {
        "Kronecker Laplace": Laplace(Softmax(10), 1.0, structure=KroneckerHessian()),
        "Bohning": Bohning(10, 1.0),
    }
    for name, posterior in forms.items():
        laws = Belief(posterior.fit(X[train], y[train])).push(pool)
        gap = np.linalg.norm(laws.covariance - exact.covariance, axis=(1, 2))  # type: ignore
        relative = gap / np.linalg.norm(exact.covariance, axis=(1, 2))  # type: ignore
        trace = laws.total_variance / exact.total_variance
        print(
            f"  {name:20s} median {np.median(relative):.1%}, 95 % quantile "
            f"{np.quantile(relative, 0.95):.1%}; trace, median ratio {np.median(trace):.2f}"
        )


def study_methods(labels: int = 60) -> None:
    """One query of each method of the study: digits, CPU time of asking and of telling."""
    from apm.studies.data.catalogue import load
    from apm.studies.multiclass import CELLS, METHODS, CellPlan

    plan = CellPlan(CELLS[0], load(CELLS[0].dataset), tuple(METHODS), trials=1, labels=labels)
    plan.run(0)  # compiles
    runs = plan.run(0)
    print(f"one query of the study, {CELLS[0].name}, mean of {labels} (CPU milliseconds)")
    for run in runs:
        ask, tell = (1e3 * run.arrays[f"{kind}_seconds"].mean() for kind in ("select", "posterior"))
        print(f"  {run.method:34s} ask {ask:8.2f}   tell {tell:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        pool_covariances(arguments.rows)
        kronecker_error()
        study_methods()


if __name__ == "__main__":
    main()
