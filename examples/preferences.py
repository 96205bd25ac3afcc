"""Preferences: rank twelve things from answers to "which of these two do you like better?".

Run with `python examples/preferences.py [picture.png]`.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

from apm import Belief, Difference, InformationGain, Laplace, Learner, Linear, Random, Selector
from channelcode import Logistic

THINGS, ANSWERS, RUNS = 12, 60, 15


def ranked(rule: Selector, seed: int) -> list[float]:
    """The rank correlation with the truth after every answer."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(scale=1.5, size=THINGS)
    first, second = np.triu_indices(THINGS, 1)
    one_hot = np.eye(THINGS)
    pairs = np.hstack([one_hot[first], one_hot[second]])  # all 66 pairs, side by side
    belief = Belief(Laplace(Logistic(), 0.5), Difference(Linear()))
    learner = Learner(pairs, belief, rule, seed=seed)
    found = []
    order = np.argsort(np.argsort(strength))
    for _ in range(ANSWERS):
        pair = int(learner.ask())
        likes_first = rng.random() < expit(strength[first[pair]] - strength[second[pair]])
        learner.tell(pair, int(likes_first))
        places = np.argsort(np.argsort(learner.belief.posterior.mean))
        found.append(float(np.corrcoef(places, order)[0, 1]))
    return found


def main() -> None:
    """Print and draw the mean rank correlation of two rules."""
    rules = {"information gain": InformationGain(), "random pairs": Random()}
    curves = {
        name: np.mean([ranked(rule, seed) for seed in range(RUNS)], axis=0)
        for name, rule in rules.items()
    }
    print("answers   " + "   ".join(f"{name:>16}" for name in curves))
    for count in (10, 20, 40, 60):
        row = "   ".join(f"{curve[count - 1]:16.3f}" for curve in curves.values())
        print(f"{count:7}   {row}")
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, curve in curves.items():
        axes.plot(np.arange(1, ANSWERS + 1), curve, label=name)
    axes.set(xlabel="answers", ylabel="rank correlation with the truth")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "preferences.png", dpi=150)


if __name__ == "__main__":
    main()
