"""Is a prior precision chosen by the evidence better than 1? Log loss on all data sets.

    python benchmarks/evidence_precision.py docs/results/evidence.csv [seeds]

Random labelled subsets of 20, 50 and 100, standardised features, an intercept, up to 1,000 other
rows to predict, the same splits for all: `VariationalLogistic` (two classes) and `Bohning` (more)
with the precision 1 and with `MaximumEvidence()`, and scikit-learn's `LogisticRegression()`.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from bench_predictive import log_loss, split

from apm import Belief, MaximumEvidence
from apm.answering import default_posterior
from apm.studies.data.catalogue import list_datasets, load

LABELS = (20, 50, 100)


def losses(data: Any, labels: int, seed: int) -> tuple[float, float, float, float]:
    """Log loss with precision 1, by evidence, of scikit-learn; and the precision chosen."""
    from sklearn.linear_model import LogisticRegression

    X, y, there, truth = split(data, labels, seed)
    seen = np.unique(y)
    y, truth = np.searchsorted(seen, y), np.searchsorted(seen, truth)
    found = []
    for precision in (1.0, MaximumEvidence()):
        prior = default_posterior(len(seen), np.arange(len(seen)), prior_precision=precision)
        belief = Belief(prior).fit(X, y)
        found.append(log_loss(belief.predict_proba(there), truth))
    chosen = belief.posterior.prior_precision
    other = LogisticRegression(max_iter=5000).fit(X, y)
    return found[0], found[1], log_loss(other.predict_proba(there), truth), chosen


def main(path: str, seeds: int = 10) -> None:
    warnings.simplefilter("ignore")
    rows: list[tuple[object, ...]] = []
    for name in list_datasets():
        data, begin = load(name), time.process_time()
        for labels in LABELS:
            runs = np.array([losses(data, labels, seed) for seed in range(seeds)])
            one, chosen, other, _ = runs.mean(axis=0)
            error = (runs[:, 1] - runs[:, 0]).std(ddof=1) / np.sqrt(seeds)
            numbers = one, chosen, chosen - one, error, other
            shown = [f"{number:.4f}" for number in numbers]
            rows.append((name, data.num_classes, labels, *shown, f"{np.median(runs[:, 3]):.3g}"))
        print(name, f"{time.process_time() - begin:.0f} s", flush=True)
        with Path(path).open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            head = "dataset classes labels one evidence difference error sklearn chosen"
            writer.writerow(head.split())
            writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1], *(int(text) for text in sys.argv[2:]))
