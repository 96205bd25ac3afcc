"""A neural network with all its weights: which examples to label, and where it is unsure.

Run with `python examples/network.py [picture.png]`. Needs torch
(`pip install 'channelcode[torch]'`).
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from apm import Belief, InformationGain, Laplace, Learner, Random, Selector, TorchNetwork
from channelcode import Logistic

LABELS = 50


def moons(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two half circles that reach into each other, with noise."""
    y = np.arange(count) % 2
    angle = np.pi * rng.random(count)
    X = np.column_stack((np.cos(angle), np.sin(angle)))
    X[y == 1] = np.array([1.0, 0.5]) - X[y == 1]
    return X + 0.15 * rng.standard_normal(X.shape), y


def network() -> Any:
    """Two inputs, ten hidden units, one output: 41 weights."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = torch.nn.Linear(2, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1)
        return torch.nn.Sequential(*layers)


def run(selector: Selector, seed: int) -> tuple[Learner, list[float]]:
    """The learner after all labels, and its accuracy after every tenth."""
    rng = np.random.default_rng(seed)
    X, y = moons(200, rng)
    test, answers = moons(1000, rng)
    # a maximum of few labels can be a poor start for more: the network is trained anew, from its
    # first weights, after every ten
    model = Laplace(Logistic(), 0.1, encoder=TorchNetwork(network()), classes=[0, 1])
    told, found = list(range(10)), []
    while True:
        learner = Learner(X, model, selector, seed=seed)
        learner.tell(told, y[told])
        found.append(float(np.mean(learner.predict(test) == answers)))
        if len(told) == LABELS:
            return learner, found
        told += learner.ask(10).tolist()


def draw(learner: Learner, path: str) -> None:
    """What the network says, how sure it is of it, and the labels it asked for."""
    from matplotlib.figure import Figure

    across, up = np.meshgrid(np.linspace(-2, 3, 81), np.linspace(-1.5, 2, 61))
    laws: Any = Belief(learner.belief.posterior).push(np.column_stack((across.ravel(), up.ravel())))
    shown = {
        "probability of label 1": (learner.predict_proba(np.column_stack((across.ravel(),
                                   up.ravel())))[:, 1], "RdBu"),
        "deviation of the output": (np.sqrt(laws.variance), "viridis"),
    }  # fmt: skip
    canvas = Figure(figsize=(8.4, 3.4), layout="constrained")
    told = learner.labelled
    for axis, (title, (values, colours)) in zip(canvas.subplots(1, 2), shown.items(), strict=True):
        filled = axis.contourf(across, up, values.reshape(across.shape), 20, cmap=colours)
        canvas.colorbar(filled, ax=axis)
        axis.plot(*learner.pool.T, ".", color="0.5", markersize=2)
        for label, marker in ((0, "o"), (1, "s")):
            rows = [r.index for r in learner.history if r.label == label]
            axis.plot(*learner.pool[rows].T, marker, color="k", markersize=4, fillstyle="none")
        axis.set_title(f"{title}, {len(told)} labels", fontsize=10)
    canvas.savefig(path, dpi=110)


def main() -> None:
    if find_spec("torch") is None:
        print("this example needs torch: pip install 'channelcode[torch]'")
        return
    curves = {}
    for name, selector in (("information gain", InformationGain()), ("random", Random())):
        runs = [run(selector, seed) for seed in range(2)]
        curves[name] = np.mean([found for _, found in runs], axis=0)
        shown = ", ".join(f"{value:.3f}" for value in curves[name])
        print(f"{name:17s} accuracy with 10, 20, ... 50 labels: {shown}")
        if name == "information gain":
            draw(runs[0][0], sys.argv[1] if len(sys.argv) > 1 else "network.png")


if __name__ == "__main__":
    main()
