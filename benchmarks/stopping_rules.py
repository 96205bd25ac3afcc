"""How often the stopping rules stop too early, on the data sets of the studies.

    python benchmarks/stopping_rules.py docs/results/stopping.csv [trials]

Each trial labels rows of half of a data set (at most 1,000 rows) with `Learner(X)` as it comes, up
to 150 for two classes and 300 for more. Every tenth label the rules are asked. A stop is false if
the accuracy on the other half is then more than .01 below what all these labels give.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

from apm import Learner, StopAfter, StopBelowBits, StopWhenStable
from apm.insight import StopRule
from apm.insight.advice import ROWS, remaining_bits
from apm.insight.replay import sampled_rows
from apm.studies.data.catalogue import list_datasets, load

EVERY, CAP, MARGIN = 10, 1000, 0.01
LABELS = {False: 150, True: 300}  # more than two classes
RULES: dict[str, StopRule] = {
    "StopAfter(50)": StopAfter(50),
    "StopAfter(100)": StopAfter(100),
    "StopAfter(200)": StopAfter(200),
    "StopBelowBits(0.1)": StopBelowBits(0.1),
    "StopBelowBits(0.05)": StopBelowBits(0.05),
    "StopBelowBits(0.02)": StopBelowBits(0.02),
    "StopWhenStable()": StopWhenStable(),
    "StopWhenStable(times=4)": StopWhenStable(times=4),
    "StopWhenStable(1.0)": StopWhenStable(1.0),
}


def trial(name: str, number: int) -> list[tuple[object, ...]]:
    data = load(name)
    rng = np.random.default_rng([number, *name.encode()])
    order = rng.permutation(len(data.y))
    train, test = order[: len(order) // 2][:CAP], order[len(order) // 2 :]
    pool, labels = data.X[train], data.y[train]
    learner = Learner(pool, classes=np.arange(data.num_classes), seed=number)
    for code in range(data.num_classes):
        row = int(rng.choice(np.flatnonzero(labels == code)))
        learner.tell(row, code)
    accuracy: dict[int, float] = {}
    stopped: dict[str, int] = {}
    most = min(LABELS[data.num_classes > 2], len(labels))
    rows_seen = sampled_rows(learner._state, ROWS, number)
    while len(learner.labelled) < most:
        index = int(learner.ask())
        learner.tell(index, labels[index])
        told = len(learner.labelled)
        if told % EVERY == 0 or told == most:
            accuracy[told] = float(np.mean(learner.predict(data.X[test]) == data.y[test]))
            bits = remaining_bits(learner._state.belief, rows_seen)  # once for all its rules
            loosest = RULES["StopWhenStable()"].should_stop(learner)  # the others stop no earlier
            for title, rule in RULES.items():
                if isinstance(rule, StopBelowBits):
                    ends = bits < rule.bits
                elif isinstance(rule, StopWhenStable):
                    ends = loosest and (title in stopped or rule.should_stop(learner))
                else:
                    ends = rule.should_stop(learner)
                if ends:
                    stopped.setdefault(title, told)
    last = accuracy[most]
    rows: list[tuple[object, ...]] = []
    for rule in RULES:
        at = stopped.get(rule, most)
        early = rule in stopped and accuracy[at] < last - MARGIN
        row = (name, data.num_classes, number, rule, at, f"{accuracy[at]:.4f}", f"{last:.4f}")
        rows.append((*row, int(rule in stopped), int(early)))
    return rows


def main(path: str, trials: int = 3) -> None:
    columns = (
        "dataset",
        "classes",
        "trial",
        "rule",
        "labels",
        "accuracy",
        "final",
        "stopped",
        "false",
    )
    found: list[tuple[object, ...]] = []
    for number in range(trials):
        for name in list_datasets():
            begin = time.process_time()
            found += trial(name, number)
            print(name, number, f"{time.process_time() - begin:.1f} s", flush=True)
            with Path(path).open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(found)


if __name__ == "__main__":
    main(sys.argv[1], *(int(text) for text in sys.argv[2:]))
