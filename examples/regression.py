"""Where to measure next: linear regression with few labels, by three designs.

A cubic curve is measured with noise. Information gain (the D-optimal design), EPIG (what the
predictions need) and random choice each ask for 12 labels; the table shows the error of the
predicted curve, averaged over 20 repetitions.

Run with `python examples/regression.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import EPIG, FeatureMap, InformationGain, Learner, LinearGaussian, Random
from apm.belief import Belief

NOISE, LABELS, REPEATS = 0.3, 12, 20
POOL = np.linspace(-1.0, 1.0, 101)[:, None]


def powers(x: np.ndarray) -> np.ndarray:
    """1, x, x^2, x^3 for each row of x `(n, 1)`."""
    return x ** np.arange(4)


def error(selector, seed: int) -> float:
    """The root of the mean squared error of the curve after all labels."""
    rng = np.random.default_rng(seed)
    truth = powers(POOL) @ rng.normal(size=4)
    labels = truth + NOISE * rng.normal(size=len(POOL))
    model = Belief(LinearGaussian(NOISE, prior_precision=1.0), FeatureMap(powers))
    learner = Learner(POOL, model, selector, seed=seed)
    learner.run(labels, LABELS)
    return float(np.sqrt(np.mean((learner.predict() - truth) ** 2)))


def main() -> None:
    print(f"root mean squared error after {LABELS} labels, {REPEATS} repetitions")
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    for place, selector in enumerate((Random(), InformationGain(), EPIG(targets=powers(POOL)))):
        errors = [error(selector, seed) for seed in range(REPEATS)]
        spread = np.std(errors) / np.sqrt(REPEATS)
        print(f"  {type(selector).__name__:16s} {np.mean(errors):.3f} +- {spread:.3f}")
        axes.plot(errors, np.full(REPEATS, place), ".", color="0.6")
        axes.errorbar(np.mean(errors), place, xerr=2 * spread, fmt="o", capsize=4)
    axes.set_yticks(range(3), ["random", "information gain", "EPIG"])
    axes.set(xlabel="error after 12 labels; means with two standard errors")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "regression.png", dpi=120)


if __name__ == "__main__":
    main()
