"""Two classes in a table: label a data frame of patients with few labels.

Run with `python examples/data_frame.py [picture.png]`.
"""

import sys
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from apm import Learner, Random

LABELS = 40


def main() -> None:
    bunch: Any = load_breast_cancer(as_frame=True)
    frame, truth = bunch.data, bunch.target_names[bunch.target]
    order = np.random.default_rng(0).permutation(len(frame))
    pool, test = frame.iloc[order[:300]], frame.iloc[order[300:]]
    answers, held_back = truth[order[:300]], truth[order[300:]]

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, selector in (("the default rule", None), ("random rows", Random())):
        learner = Learner(pool, selector=selector, classes=["benign", "malignant"], seed=0)
        learner.run(answers, LABELS)
        curve = learner.curve(test, held_back)
        axes.plot(curve.labels, curve.accuracy, label=name)
        print(f"{name}: {curve.accuracy[-1]:.1%} right after {LABELS} labels")
    axes.set(
        xlabel="labels", ylabel="accuracy on rows held back", title="Breast cancer, 30 columns"
    )
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "data_frame.png", dpi=120)


if __name__ == "__main__":
    main()
