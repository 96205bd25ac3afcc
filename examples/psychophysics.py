"""Psychophysics: find a detection threshold in sixty trials, slope unknown.

Run with `python examples/psychophysics.py [picture.png]`.
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Belief, Grid, InformationGain, NonLinear
from channelcode import Lapse, Probit

STIMULI = np.arange(-10.0, 10.5, 0.5)[:, None]
THRESHOLDS, WIDTHS = np.arange(-8.0, 8.5, 0.5), np.arange(0.5, 4.5, 0.5)
TRIALS, OBSERVERS = 60, 40


def psychometric(theta: np.ndarray, X: np.ndarray) -> np.ndarray:
    """l = (stimulus - threshold) / width."""
    return (X - theta[:, 0]) / theta[:, 1]


def experiment(rule: str, truth: np.ndarray, rng: np.random.Generator) -> list[float]:
    """The estimate of the threshold after each trial."""
    encoder, channel = NonLinear(psychometric, 2), Lapse(Probit(), low=0.02, high=0.02)
    belief = Belief(Grid([THRESHOLDS, WIDTHS], channel, encoder))
    selector = (
        InformationGain(about=[0]) if rule == "gain about the threshold" else InformationGain()
    )
    row, estimates = len(STIMULI) // 2, []
    for _ in range(TRIALS):
        if rule != "staircase":
            row = int(selector.select(belief, STIMULI)[0])
        chance = channel.prob(psychometric(truth[None], STIMULI[[row]])[0, 0])[1]
        seen = int(rng.random() < chance)
        belief = belief.update(STIMULI[row], seen)
        estimates.append(float(belief.posterior.mean[0]))
        row = int(np.clip(row + (-1 if seen else 1), 0, len(STIMULI) - 1))  # one down, one up
    return estimates


def errors() -> dict[str, np.ndarray]:
    """The root mean squared error of the threshold after each trial, by rule."""
    rng = np.random.default_rng(1)
    truths = np.stack([rng.uniform(-5, 5, OBSERVERS), rng.uniform(1, 3, OBSERVERS)], axis=1)
    found = {}
    for rule in ("gain about the threshold", "gain about both (QUEST+)", "staircase"):
        runs = [
            np.array(experiment(rule, truth, np.random.default_rng(place))) - truth[0]
            for place, truth in enumerate(truths)
        ]
        found[rule] = np.sqrt(np.mean(np.square(runs), axis=0))
    return found


def draw(found: dict[str, np.ndarray], path: str) -> None:
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axis = figure.subplots()
    for rule, error in found.items():
        axis.semilogy(np.arange(1, TRIALS + 1), error, label=rule)
    axis.set(xlabel="trials", ylabel="error of the threshold (rms)")
    axis.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    found = errors()
    print(f"error of the threshold, root mean square over {OBSERVERS} simulated observers")
    for rule, error in found.items():
        shown = ", ".join(f"{error[trial - 1]:.2f} after {trial}" for trial in (10, 30, 60))
        print(f"  {rule}: {shown}")
    draw(found, sys.argv[1] if len(sys.argv) > 1 else "psychophysics.png")


if __name__ == "__main__":
    main()
