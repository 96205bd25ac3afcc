"""Ordered grades: poor, fair, good. The order is part of the channel.

Run with `python examples/ordinal_grades.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Laplace, Learner
from channelcode import Ordinal

GRADES = ["poor", "fair", "good"]


def main() -> None:
    rng = np.random.default_rng(0)
    channel = Ordinal((-1.0, 1.0))
    X = rng.normal(size=(300, 3))
    answers = np.array(GRADES)[channel.sample(X @ [2.0, -1.0, 0.5], rng=rng)]

    learner = Learner(X, Laplace(channel, 0.1, classes=GRADES), seed=0)
    for _ in range(40):
        row = int(learner.ask())
        learner.tell(row, answers[row])
    right = np.mean(learner.predict(X) == answers)
    print(f"{right:.1%} of all grades predicted after 40 labels")

    score = X @ learner.belief.posterior.mean
    inputs = np.linspace(score.min(), score.max(), 200)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, (grade, chance) in enumerate(zip(GRADES, channel.prob(inputs).T)):
        axes.plot(inputs, chance, label=grade)
        asked = [row for row in learner.labelled if answers[row] == grade]
        axes.plot(score[asked], np.full(len(asked), -0.06 - 0.05 * place), "|", color=f"C{place}")
    axes.set(
        xlabel="score x'θ", ylabel="probability of the grade", title="Strokes: the rows asked for"
    )
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "ordinal_grades.png", dpi=120)


if __name__ == "__main__":
    main()
