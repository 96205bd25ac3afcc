"""Digits with a small network, trained again after every ten labels: all weights or the last layer.

    python -m benchmarks.network_curve OUT.csv [--seeds 10]         # about half a CPU minute a seed
    python -m benchmarks.network_curve OUT.csv --picture FILE.png   # what is there, drawn

A network 64-8-10 (tanh, 610 weights) learns one label of each class and then 100 more, ten at a
time, from a pool of 300; its accuracy is that on 797 other images. It is trained to a maximum of
cross-entropy and weight decay (L-BFGS), the same way for every rule. The rules: information
gain by 64 draws (`BALD`) under the linearised posterior of all weights, the same under the
posterior of the last layer, margin of the network's own probabilities, and random rows. Seeds that
OUT.csv holds already are not run again.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse  # noqa: E402
import itertools  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from apm import BALD, Belief, Laplace, Margin, Random, TorchNetwork  # noqa: E402
from apm.studies.engine.statistics import bootstrap_interval  # noqa: E402
from apm.studies.engine.tables import read_csv, write_csv  # noqa: E402
from apm.studies.streams import stream  # noqa: E402
from channelcode import Softmax  # noqa: E402

HIDDEN, DECAY, POOL, LABELS, BATCH, DRAWS = 8, 0.1, 300, 100, 10, 64
WEIGHTS = 64 * HIDDEN + HIDDEN + 10 * HIDDEN + 10
METHODS = ("all weights", "last layer", "margin", "random")
COLUMNS = ("seed", "method", "labels", "accuracy")


def trained(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """All weights `(q,)` at a maximum of -sum cross-entropy - decay/2 |theta|^2."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        first, constant, last, shift = parts(theta)
        hidden = np.tanh(X @ first.T + constant)
        logs = log_softmax(hidden @ last.T + shift, axis=1)
        away = np.exp(logs)
        away[np.arange(len(y)), y] -= 1.0
        back = (away @ last) * (1.0 - hidden**2)
        slopes = back.T @ X, back.sum(axis=0), away.T @ hidden, away.sum(axis=0)
        gradient = np.concatenate([part.ravel() for part in slopes]) + DECAY * theta
        value = 0.5 * DECAY * theta @ theta - logs[np.arange(len(y)), y].sum()
        return float(value), gradient

    start = stream(seed, "digits", "network").normal(size=WEIGHTS) / 8.0
    options = {"maxiter": 1000, "maxfun": 2000, "gtol": 1e-4, "ftol": 1e-12}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x


def parts(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The matrices and the constants of both layers, in torch's order."""
    first, constant, last, shift = np.split(theta, np.cumsum([64 * HIDDEN, HIDDEN, 10 * HIDDEN]))
    return first.reshape(HIDDEN, 64), constant, last.reshape(10, HIDDEN), shift


def network(*sizes: int) -> TorchNetwork:
    """Linear maps with tanh between them."""
    import torch

    layers: list[Any] = [torch.nn.Linear(sizes[0], sizes[1])]
    for before, after in itertools.pairwise(sizes[1:]):
        layers += [torch.nn.Tanh(), torch.nn.Linear(before, after)]
    return TorchNetwork(torch.nn.Sequential(*layers))


def choice(
    method: str, theta: np.ndarray, X: np.ndarray, y: np.ndarray, told: Any, seed: int
) -> Any:
    """The next ten rows of X `(n, 64)` with the labels `told` and a network at theta."""
    rules = {"margin": Margin(), "random": Random()}
    encoder, at, rows = network(64, HIDDEN, 10), theta, X
    if method == "last layer":
        first, constant, last, shift = parts(theta)
        encoder, at = network(HIDDEN, 10), np.concatenate((last.ravel(), shift))
        rows = np.tanh(X @ first.T + constant)
    model: Any = Laplace(Softmax(10), DECAY, encoder=encoder, classes=np.arange(10))
    belief = Belief(model.fit_at(at, rows[told], y[told]))
    exclude = np.array(told)
    return rules.get(method, BALD(DRAWS)).select(belief, rows, n=BATCH, exclude=exclude, rng=seed)


def curve(method: str, seed: int, X: np.ndarray, y: np.ndarray) -> list[float]:
    """The accuracy on the test images with 10, 20, ... 110 labels."""
    order = stream(seed, "digits", "split").permutation(len(y))
    pool, test = order[:POOL], order[1000:]
    draw = stream(seed, "digits", "seeds")
    told = [int(draw.choice(np.flatnonzero(y[pool] == digit))) for digit in range(10)]
    found = []
    while True:
        theta = trained(X[pool][told], y[pool][told], seed)
        first, constant, last, shift = parts(theta)
        guessed = np.argmax(np.tanh(X[test] @ first.T + constant) @ last.T + shift, axis=1)
        found.append(float(np.mean(guessed == y[test])))
        if len(told) >= 10 + LABELS:
            return found
        picks = choice(method, theta, X[pool], y[pool], told, 1000 * seed + len(told))
        told += [int(row) for row in picks]


def run(path: Path, seeds: int) -> None:
    """Every seed that the file lacks, written after each."""
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    X, y = np.asarray(bunch["data"]) / 16.0, np.asarray(bunch["target"], dtype=np.int64)
    rows = [tuple(row[name] for name in COLUMNS) for row in held(path)]
    for seed in range(seeds):
        for method in METHODS:
            if any(row[0] == str(seed) and row[1] == method for row in rows):
                continue
            for place, value in enumerate(curve(method, seed, X, y)):
                asked = str(10 + BATCH * place)
                rows.append((str(seed), method, asked, f"{value:.4f}"))
            write_csv(path, COLUMNS, rows)
            print(seed, method, rows[-1][-1], flush=True)


def held(path: Path) -> list[dict[str, str]]:
    """The rows of the file, if there is one."""
    return list(read_csv(path)) if path.is_file() else []


def tables(path: Path) -> dict[str, np.ndarray]:
    """The accuracies by method, `(seeds, points)`, of the seeds that all methods have."""
    found: dict[tuple[str, int], list[float]] = {}
    for row in held(path):
        found.setdefault((row["method"], int(row["seed"])), []).append(float(row["accuracy"]))
    seeds = sorted({seed for _, seed in found})
    whole = [seed for seed in seeds if all((method, seed) in found for method in METHODS)]
    return {m: np.array([found[m, seed] for seed in whole]) for m in METHODS}


def report(path: Path) -> None:
    """Means at some numbers of labels, areas, and paired differences to margin."""
    curves = tables(path)
    print(f"{len(curves['margin'])} seeds; mean accuracy with 10, 30, 60, 110 labels, and area")
    for method, values in curves.items():
        means = values.mean(axis=0)
        shown = " | ".join(f"{means[place]:.3f}" for place in (0, 2, 5, 10))
        area = values[:, 1:].mean(axis=1)
        print(f"| {method} | {shown} | {area.mean():.3f} |")
    areas = {method: values[:, 1:].mean(axis=1) for method, values in curves.items()}
    for first, second in (
        ("all weights", "last layer"),
        ("all weights", "margin"),
        ("all weights", "random"),
        ("last layer", "margin"),
        ("margin", "random"),
    ):
        gap = bootstrap_interval(areas[first] - areas[second])
        print(f"{first} less {second}: {gap}")


def draw(path: Path, picture: Path) -> None:
    """The curves, a standard error shaded."""
    from matplotlib.figure import Figure

    looks = {"all weights": ("#0072B2", "-"), "last layer": ("#56B4E9", "--"),
             "margin": ("#D55E00", "-."), "random": ("#767676", ":")}  # fmt: skip
    canvas = Figure(figsize=(6.4, 3.8), layout="constrained")
    axis = canvas.subplots()
    for method, values in tables(path).items():
        asked = 10 + BATCH * np.arange(values.shape[1])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        colour, dashes = looks[method]
        axis.plot(asked, mean, color=colour, linestyle=dashes, label=method)
        axis.fill_between(asked, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
    axis.set_xlabel("labels")
    axis.set_ylabel("test accuracy")
    axis.set_title("digits, a network 64-8-10 trained again after every ten labels", fontsize=10)
    axis.grid(alpha=0.25)
    axis.legend(frameon=False)
    canvas.savefig(picture, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.picture is None:
        run(options.out, options.seeds)
    else:
        draw(options.out, options.picture)
    report(options.out)


if __name__ == "__main__":
    main()
