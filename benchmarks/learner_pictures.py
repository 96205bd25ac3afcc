"""The pictures of the manual's pages about the learner: choosing, stopping, labelling, committees.

python benchmarks/learner_pictures.py docs/images
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import apm.plot
from apm import (
    InformationGain,
    Learner,
    Margin,
    Random,
    StopBelowBits,
    StopWhenStable,
    compare,
)
from apm.adapters import Committee
from apm.selectors.default import default_selector
from apm.studies.data.catalogue import load


def saved(figure: Any, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    print(name)


def choosing(folder: Path) -> None:
    """Three rules on digits, ten classes."""
    data = load("digits")
    belief = Learner(data.X[:10], classes=np.arange(10), seed=0).belief
    rules = {"the default": default_selector(belief), "margin": Margin(), "random": Random()}
    found = compare(data.X, data.y, rules, labels=80, trials=6)
    print(found)
    saved(apm.plot.learning_curve(found), folder, "choosing")


def halves() -> tuple[Any, Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    names = np.where(y == 0, "malignant", "benign")
    train, test = np.split(order, [len(order) // 2])
    return X[train], names[train], X[test], names[test]


def stopping(folder: Path) -> None:
    """What the model expects beside what is true, and where rules stop."""
    X, y, there, truth = halves()
    learner = Learner(X, classes=["benign", "malignant"], seed=0)
    rules: dict[str, Any] = {
        "StopBelowBits(0.05)": StopBelowBits(0.05),
        "StopWhenStable()": StopWhenStable(),
        "StopBelowBits(0.02)": StopBelowBits(0.02),
        "StopWhenStable(times=4)": StopWhenStable(times=4),
    }
    labels, advice, right, stops = [], [], [], {}
    while len(learner.labelled) < 120:
        row = int(learner.ask())
        learner.tell(row, y[row])
        told = len(learner.labelled)
        if told >= 5 and told % 5 == 0:
            labels.append(told)
            advice.append(learner.stop_advice())
            right.append(np.mean(learner.predict(there) == truth))
            for name, rule in rules.items():
                if name not in stops and rule.should_stop(learner):
                    stops[name] = told
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7.0, 5.5), sharex=True)
    low, high = np.array([each.interval for each in advice]).T
    upper.fill_between(labels, low, high, alpha=0.2, linewidth=0, label="5 % to 95 %")
    upper.plot(labels, [each.accuracy for each in advice], label="accuracy, as the model expects")
    upper.plot(labels, right, color="black", label="accuracy, measured on the other half")
    upper.set_ylim(0.75, 1.0)
    upper.legend(loc="lower right", fontsize=8)
    lower.plot(labels, [each.remaining_bits for each in advice])
    lower.set_ylabel("remaining bits a row")
    lower.set_xlabel("labels")
    for (name, told), height in zip(stops.items(), (0.9, 0.75, 0.6, 0.45)):
        for axes in (upper, lower):
            axes.axvline(told, color="grey", linewidth=0.8, linestyle="--")
        lower.text(told + 1, height * lower.get_ylim()[1], name, fontsize=8)
    saved(figure, folder, "stopping")


def labelling(folder: Path) -> None:
    """The learner's own pictures: a learning curve, and calibration."""
    X, y, there, truth = halves()
    learner = Learner(X, seed=0)
    learner.run(y, 60)
    saved(apm.plot.learning_curve(learner.curve(there, truth)), folder, "labelling-curve")
    saved(apm.plot.calibration(learner, there, truth, bins=6), folder, "labelling-calibration")


def committee(folder: Path) -> None:
    """Decision trees inside `Learner`: asking where they disagree, and asking at random."""
    X, y, there, truth = halves()
    figure, axes = plt.subplots(figsize=(7.0, 4.0))
    for rule, name in ((InformationGain(), "InformationGain()"), (Random(), "Random()")):
        curves = []
        for seed in range(6):
            model = Committee(DecisionTreeClassifier(), ["benign", "malignant"], rng=seed)
            learner = Learner(X, model, rule, seed=seed)
            draw = np.random.default_rng(seed)
            for label in ("benign", "malignant"):
                learner.tell(int(draw.choice(np.flatnonzero(y == label))), label)
            found: list[float] = []
            learner.run(
                y,
                50,
                observe=lambda _, f=found, m=learner: f.append(np.mean(m.predict(there) == truth)),
            )
            curves.append(found)
        mean = np.mean(curves, axis=0)
        error = np.std(curves, axis=0, ddof=1) / np.sqrt(len(curves))
        asked = np.arange(1, len(mean) + 1)
        axes.plot(asked, mean, label=name)
        axes.fill_between(asked, mean - 2 * error, mean + 2 * error, alpha=0.15, linewidth=0)
        print(name, mean[-1])
    axes.set_xlabel("labels asked, after one of each class")
    axes.set_ylabel("accuracy on rows held back")
    axes.legend(loc="lower right", fontsize=8)
    saved(figure, folder, "committee")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for make in (labelling, stopping, committee, choosing):
        make(target)
