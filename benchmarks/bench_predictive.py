"""Probabilities people can use: log loss and cost beside scikit-learn's logistic regression.

Random labelled subsets of 20, 50 and 100, standardised features, an intercept, prior precision 1
(scikit-learn's C = 1), up to 1,000 other rows to predict, the same splits for all. For two classes
`VariationalLogistic`, for more `Bohning`; `averaged` is the mean over the posterior,
`predict_proba` what users are given. Classes without a label are left out for all.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from apm.belief import Belief  # noqa: E402
from apm.posteriors import Bohning, VariationalLogistic  # noqa: E402
from apm.studies.data.catalogue import load  # noqa: E402

SETS = ("wdbc", "austra", "letterIJ", "vehicle", "digits", "segment")
LABELS = (20, 50, 100)
WITHIN = 1.05  # of scikit-learn's log loss, in every cell
SLOWEST = {"predict_proba": 20.0, "predict": 3.0}  # times scikit-learn, 1,000 rows, K classes


def split(data: Any, labels: int, seed: int) -> tuple[np.ndarray, ...]:
    """Features and labels of a subset with two classes at least, and of the rows to predict."""
    rng = np.random.default_rng(seed)
    spread = data.X.std(axis=0)
    X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    while True:
        order = rng.permutation(len(data.y))
        train, test = order[:labels], order[labels : labels + 1000]
        seen = np.unique(data.y[train])
        if len(seen) >= min(data.num_classes, labels // 4):
            break
    test = test[np.isin(data.y[test], seen)]
    return X[train], data.y[train], X[test], data.y[test]


def fitted(X: np.ndarray, y: np.ndarray, precision: float) -> Belief:
    """The library's posterior of these labels, coded 0..K-1."""
    count = int(y.max()) + 1
    options: dict[str, Any] = {"intercept": True, "classes": list(range(count))}
    if count == 2:
        return Belief(VariationalLogistic(precision, **options)).fit(X, y)
    return Belief(Bohning(count, precision, **options)).fit(X, y)


def log_loss(probability: np.ndarray, codes: np.ndarray) -> float:
    return -float(np.log(np.maximum(probability[np.arange(len(codes)), codes], 1e-300)).mean())


def calibration_error(probability: np.ndarray, codes: np.ndarray) -> float:
    """The mean gap between confidence and accuracy over ten equal bins of confidence."""
    top = probability.max(axis=1)
    right = probability.argmax(axis=1) == codes
    place = np.minimum((10 * top).astype(int), 9)
    gaps = [abs(float(np.sum(top[place == b] - right[place == b]))) for b in range(10)]
    return sum(gaps) / len(codes)


def cell(name: str, labels: int, seeds: int, precision: float) -> dict[str, np.ndarray]:
    """Mean log loss and calibration error by method."""
    from sklearn.linear_model import LogisticRegression

    data = load(name)
    rows: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        X, y, there, truth = split(data, labels, seed)
        seen = np.unique(y)
        y, truth = np.searchsorted(seen, y), np.searchsorted(seen, truth)
        other = LogisticRegression(max_iter=5000).fit(X, y)
        belief = fitted(X, y, precision)
        found = {
            "scikit-learn": other.predict_proba(there),
            "predict_proba": belief.predict_proba(there),
            "averaged": belief.output_proba(there),
        }
        for method, probability in found.items():
            pair = log_loss(probability, truth), calibration_error(probability, truth)
            rows.setdefault(method, []).append(pair)
    return {method: np.mean(values, axis=0) for method, values in rows.items()}


def best_of(call: Callable[[], object], repeats: int = 30) -> float:
    call()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(5):
            call()
        times.append((time.process_time() - begun) / 5)
    return float(np.median(times))


def costs(precision: float) -> None:
    from sklearn.linear_model import LogisticRegression

    print("\n1,000 rows, 100 labels: microseconds, and times scikit-learn")
    for name in SETS:
        data = load(name)
        X, y, _, _ = split(data, 100, 0)
        y = np.searchsorted(np.unique(y), y)
        pool = np.resize(data.X, (1000, data.X.shape[1])) * 0.01
        other, belief = LogisticRegression(max_iter=5000).fit(X, y), fitted(X, y, precision)
        line = f"{name:10}"
        for method, ours in (
            ("predict_proba", belief.predict_proba),
            ("predict", belief.likeliest),
        ):
            theirs = best_of(lambda call=getattr(other, method), pool=pool: call(pool))
            mine = best_of(lambda call=ours, pool=pool: call(pool))
            ratio = mine / theirs
            verdict = "ok" if data.num_classes == 2 or ratio <= SLOWEST[method] else "BELOW THE AIM"
            line += f"  {method} {1e6 * mine:6.0f} {ratio:5.1f} {verdict}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--precision", type=float, default=1.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    head = ("set", "labels", "scikit-learn", "predict_proba", "averaged", "ratio", "verdict")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name in SETS:
        for labels in LABELS:
            found = cell(name, labels, options.seeds, options.precision)
            shown = [f"{found[m][0]:.3f} ({found[m][1]:.2f})" for m in head[2:5]]
            ratio = found["predict_proba"][0] / found["scikit-learn"][0]
            verdict = "ok" if ratio <= WITHIN else "BELOW THE AIM"
            print("| " + " | ".join([name, str(labels), *shown, f"{ratio:.2f}", verdict]) + " |")
    costs(options.precision)


if __name__ == "__main__":
    main()
