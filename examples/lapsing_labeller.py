"""A labeller who lapses: one answer in ten is wrong by accident, and the model knows.

Run with `python examples/lapsing_labeller.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Laplace, Learner
from channelcode import Lapse, Logistic

LABELS, PEOPLE = 50, 5


def steepness(channel, seed: int) -> np.ndarray:
    """The length of the learnt weights over that of the true ones, after each label."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(200, 3)), np.array([4.0, -3.0, 1.0])
    answers = (rng.random(200) < 1 / (1 + np.exp(-X @ theta))).astype(int)
    lapses = rng.random(200) < 0.2  # half of them hit the right answer by chance
    answers[lapses] = rng.integers(2, size=int(lapses.sum()))
    learner = Learner(X, Laplace(channel, 0.1), seed=seed)
    lengths = []
    for _ in range(LABELS):
        row = int(learner.ask())
        learner.tell(row, int(answers[row]))
        lengths.append(np.linalg.norm(learner.belief.posterior.mean) / np.linalg.norm(theta))
    return np.array(lengths)


def main() -> None:
    models = {
        "no lapses in the model": Logistic(),
        "lapses in the model": Lapse(Logistic(), 0.1, 0.1),
    }
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, channel in models.items():
        mean = np.mean([steepness(channel, seed) for seed in range(PEOPLE)], axis=0)
        axes.plot(np.arange(1, LABELS + 1), mean, label=name)
        print(f"{name}: {mean[-1]:.2f} of the true length after {LABELS} labels")
    axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle="--")
    axes.set(xlabel="labels", ylabel="length of the weights, truth = 1", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "lapsing_labeller.png", dpi=120)


if __name__ == "__main__":
    main()
