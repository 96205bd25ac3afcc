"""Adaptive testing: measure an ability with thirty of 300 items, each with its own guess rate.

Run with `python examples/adaptive_testing.py [picture.png]`.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

from apm import Belief, Grid, InformationGain, NonLinear, Random
from channelcode import Logistic, UnknownGuess

ABILITIES = np.linspace(-5.0, 5.0, 201)
ITEMS, PERSONS = 30, 100


def item_bank(rng: np.random.Generator) -> np.ndarray:
    """300 items (a, b, c): discrimination, difficulty, guess rate."""
    return np.stack(
        [rng.lognormal(0.1, 0.3, 300), rng.normal(size=300), rng.uniform(0.05, 0.3, 300)], axis=1
    )


def answered(theta: np.ndarray, items: np.ndarray) -> np.ndarray:
    """(l, c) of every item and ability: l = a (ability - b)."""
    l = items[:, :1] * (theta[:, 0] - items[:, 1:2])
    return np.stack([l, np.broadcast_to(items[:, 2:], l.shape)], axis=2)


def most_informative_at_the_mean(belief: Belief, bank: np.ndarray) -> np.ndarray:
    """Fisher information of every item at the expected ability, the classical rule."""
    a, b, c = bank.T
    right = expit(a * (belief.posterior.mean[0] - b))
    return a**2 * right**2 * (1 - right) * (1 - c) / (c + (1 - c) * right)


def measured(rule: str, ability: float, bank: np.ndarray, seed: int) -> list[float]:
    """The estimate after each item."""
    rng = np.random.default_rng(seed)
    prior = np.exp(-0.5 * ABILITIES**2)
    grid = Grid([ABILITIES], UnknownGuess(Logistic()), NonLinear(answered, 1), prior)
    belief, asked, estimates = Belief(grid), [], []
    for number in range(ITEMS):
        if rule == "maximum information":
            scores = most_informative_at_the_mean(belief, bank)
            scores[asked] = -np.inf
            item = int(np.argmax(scores))
        else:
            selector = InformationGain() if rule == "information gain" else Random()
            item = int(selector.select(belief, bank, exclude=asked, rng=seed * 100 + number)[0])
        a, b, c = bank[item]
        right = int(rng.random() < c + (1 - c) * expit(a * (ability - b)))
        belief = belief.update(bank[item], right)
        asked.append(item)
        estimates.append(float(belief.posterior.mean[0]))
    return estimates


def errors() -> dict[str, np.ndarray]:
    """The root mean squared error of the ability after each item, by rule."""
    rng = np.random.default_rng(0)
    bank, abilities = item_bank(rng), rng.normal(size=PERSONS)
    found = {}
    for rule in ("information gain", "maximum information", "random"):
        runs = [
            np.array(measured(rule, ability, bank, seed)) - ability
            for seed, ability in enumerate(abilities)
        ]
        found[rule] = np.sqrt(np.mean(np.square(runs), axis=0))
    return found


def draw(found: dict[str, np.ndarray], path: str) -> None:
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axis = figure.subplots()
    for rule, error in found.items():
        axis.plot(np.arange(1, ITEMS + 1), error, label=rule)
    axis.set(xlabel="items", ylabel="error of the ability (rms)", ylim=(0, None))
    axis.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    found = errors()
    print(f"error of the ability, root mean square over {PERSONS} simulated persons")
    for rule, error in found.items():
        shown = ", ".join(f"{error[count - 1]:.2f} after {count}" for count in (5, 15, 30))
        print(f"  {rule}: {shown}")
    draw(found, sys.argv[1] if len(sys.argv) > 1 else "adaptive_testing.png")


if __name__ == "__main__":
    main()
