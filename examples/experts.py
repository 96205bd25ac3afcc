"""A doctor and a student: whom to ask, when one is dear and the other errs.

Run with `python examples/experts.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Expert, Learner
from channelcode import Lapse, Logistic

BUDGET, RUNS = 18, 4
DOCTOR = Expert(Logistic(), 3.0, "doctor")
STUDENT = Expert(Lapse(Logistic(), 0.15, 0.15), 1.0, "student")


def run(panel: list[Expert], seed: int) -> tuple[np.ndarray, int]:
    """The share of right classes after each unit of money, and how often the doctor was asked."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(80, 2)), np.array([3.0, -2.0])
    said = {who.name: who.channel.sample(X @ theta, rng=rng) for who in (DOCTOR, STUDENT)}
    learner = Learner(X, experts=panel, seed=seed)
    right = np.full(BUDGET + 1, 0.5)
    while learner.spent < BUDGET:
        pick = learner.ask()
        name = str(pick.experts[0])
        learner.tell(pick, int(said[name][int(pick)]), expert=name)
        right[int(learner.spent) :] = np.mean(learner.predict(X) == (X @ theta > 0))
    return right, sum(record.expert == "doctor" for record in learner.history)


def main() -> None:
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    panels = {
        "both, by bits for the money": [DOCTOR, STUDENT],
        "the doctor alone": [DOCTOR],
        "the student alone": [STUDENT],
    }
    for title, panel in panels.items():
        runs = [run(panel, seed) for seed in range(RUNS)]
        mean = np.mean([right for right, _ in runs], axis=0)
        axes.step(np.arange(BUDGET + 1), mean, where="post", label=title)
        doctors = np.mean([count for _, count in runs])
        print(f"{title}: {mean[-1]:.1%} right for {BUDGET}; the doctor was asked {doctors:g} times")
    title = f"A doctor for 3, a student for 1: mean of {RUNS} runs"
    axes.set(xlabel="money spent", ylabel="share of classes that are right", title=title)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "experts.png", dpi=120)


if __name__ == "__main__":
    main()
