"""Handwritten digits: a network trained on the labels so far, its last layer Bayesian.

Run with `python examples/digits.py [picture.png]`. A hundred labels are chosen ten at a time.
With torch (`pip install 'channelcode[torch]'`) the features are those of a small network that is
trained again after every batch; without it the pixels themselves serve. The picture shows the
learning curve and the chosen images.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from apm import APM, Belief, Bohning, ContestedPair, Encoder, Linear, PoolMaxPower, Predictions
from apm.encoders import TorchFeatures

BATCH, LABELS = 10, 100


def features(X: np.ndarray, y: np.ndarray) -> Encoder:
    """The encoder of this round: a network trained on the labels so far, or the pixels."""
    if find_spec("torch") is None:
        return Linear()
    from apm.encoders.torch import train_mlp

    return TorchFeatures(train_mlp(X, y, num_classes=10, hidden=(64,)))


def run(X: np.ndarray, y: np.ndarray, test: np.ndarray, answers: np.ndarray, *, active: bool):
    """Choose `LABELS` rows beyond one seed for each class; the accuracy after each batch."""
    rng = np.random.default_rng(1)
    chosen = [int(rng.choice(np.flatnonzero(y == digit))) for digit in range(10)]
    selector = APM(PoolMaxPower(), channel=ContestedPair(), message=Predictions(num_targets=200))
    curve = []
    while True:
        encoder = features(X[chosen], y[chosen])
        posterior = Bohning(10, 0.1, intercept=True, classes=np.arange(10))
        belief = Belief(posterior, encoder).fit(X[chosen], y[chosen])
        logits = belief.push(test).mean
        curve.append(float(np.mean(np.argmax(logits, axis=1) == answers)))
        if len(chosen) >= 10 + LABELS:
            return chosen[10:], curve
        if active:
            picks = selector.select(belief, X, n=BATCH, exclude=np.array(chosen))
        else:
            left = np.setdiff1d(np.arange(len(y)), chosen)
            picks = rng.choice(left, BATCH, replace=False)
        chosen += [int(row) for row in picks]


def draw(images: np.ndarray, curves: dict[str, list[float]], path: str) -> None:
    """The learning curves, and the chosen images in the order of choice."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = canvas.subplots(1, 2)
    for name, curve in curves.items():
        left.plot(np.arange(len(curve)) * BATCH, curve, marker="o", markersize=3, label=name)
    left.set_xlabel("labels asked")
    left.set_ylabel("test accuracy")
    left.grid(alpha=0.25)
    left.legend(frameon=False)
    framed = np.pad(images.reshape(10, 10, 8, 8), ((0, 0), (0, 0), (2, 2), (2, 2)))
    tiles = framed.transpose(0, 2, 1, 3).reshape(120, 120)
    right.imshow(tiles, cmap="gray_r")
    right.set_title("chosen, row by row")
    right.set_axis_off()
    canvas.savefig(path, dpi=120)


def main() -> None:
    bunch: Any = load_digits()
    images, y = np.asarray(bunch["data"]), np.asarray(bunch["target"])
    X = images / 16.0
    order = np.random.default_rng(0).permutation(len(y))
    pool, test = order[:1000], order[1000:]
    name = "pixels" if find_spec("torch") is None else "network"
    curves = {}
    for kind in ("APM", "random"):
        picks, curves[kind] = run(X[pool], y[pool], X[test], y[test], active=kind == "APM")
        shown = ", ".join(f"{value:.3f}" for value in curves[kind][::2])
        print(f"{kind:7s} ({name}), every twenty labels: {shown}")
        if kind == "APM":
            chosen = images[pool][picks]
    draw(chosen, curves, sys.argv[1] if len(sys.argv) > 1 else "digits.png")


if __name__ == "__main__":
    main()
