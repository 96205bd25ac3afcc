"""What answers cost until a classifier is right: any expert by gain per cost, or always one.

    python -m benchmarks.bench_experts [--seeds 100]
    python -m benchmarks.bench_experts --crowds --seeds 20      # against crowd-kit, if installed
    python -m benchmarks.bench_experts --picture experts.png    # bits for the money by spread

Logistic regression in the plane, |theta| = 3, a pool of 100 examples, the prior N(0, 2^2 I) on an
exact grid. Two panels of three experts. Symmetric: answers through the logistic channel itself,
wrong in one more of ten, in one more of four, for 3, 2 and 1. One-sided: the first for 3, one who
says yes to four in ten of what is no, one who says no to four in ten of what is yes, for 1 each.
For each seed the price at which the predicted classes of 500 further examples first agree with the
true ones (the sign of l) at the given share. Means with 95 % bootstrap intervals over seeds; every
method sees the same answers.
"""

from __future__ import annotations

import argparse

import numpy as np

from apm import Expert, GainPerCost, Grid, InformationGain, Laplace, Learner, Linear
from channelcode import Lapse, Logistic, UnknownLapse

PANELS = {
    "symmetric": (
        Expert(Logistic(), 3.0, "sure"),
        Expert(Lapse(Logistic(), 0.1, 0.1), 2.0, "good"),
        Expert(Lapse(Logistic(), 0.25, 0.25), 1.0, "fair"),
    ),
    "one-sided": (
        Expert(Logistic(), 3.0, "sure"),
        Expert(Lapse(Logistic(), low=0.4), 1.0, "eager"),
        Expert(Lapse(Logistic(), high=0.4), 1.0, "cautious"),
    ),
}
BUDGET = 120.0
SHARES = (0.9, 0.95, 0.98)
AXIS = np.linspace(-8.0, 8.0, 49)


def prior(theta: np.ndarray) -> np.ndarray:
    """The density of theta, N(0, 2^2 I)."""
    return np.exp(-np.square(theta).sum(axis=-1) / 8.0)


def cost_curve(
    seed: int, panel: tuple[Expert, ...], experts: tuple[Expert, ...], selector: object
) -> list[tuple[float, float]]:
    """Price so far and share of right predictions after every answer, all of the panel's answers
    drawn whether they are asked for or not."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(2)
    theta *= 3.0 / np.linalg.norm(theta)
    X, test = rng.standard_normal((100, 2)), rng.standard_normal((500, 2))
    answers = {
        expert.name: (rng.random(100) < expert.channel.prob(X @ theta)[:, 1]).astype(int)
        for expert in panel
    }
    truth = test @ theta > 0
    model = Grid([AXIS, AXIS], Logistic(), Linear(), prior=prior)
    learner = Learner(X, model, selector, experts=experts, seed=seed)  # type: ignore[arg-type]
    found = []
    while learner.spent < BUDGET and len(learner.remaining):
        pick = learner.ask()
        name = pick.experts[0]
        learner.tell(pick, int(answers[name][int(pick)]), expert=name)
        right = float(np.mean((test @ np.asarray(learner.posterior.mean) > 0) == truth))
        found.append((learner.spent, right))
    return found


def price_of(curve: list[tuple[float, float]], share: float) -> float:
    """The price at which the share is first reached; the budget if it never is."""
    return next((price for price, right in curve if right >= share), BUDGET)


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean and its 95 % bootstrap interval."""
    rng = np.random.default_rng(0)
    means = rng.choice(values, size=(4000, len(values))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def crowd(seed: int, answers_each: int) -> dict[str, tuple[float, float]]:
    """Errors of five estimated rates (root mean square) and share of right labels, by method.

    150 examples in the plane whose classes are those of a line, five people who err at rates from
    .05 to .4 and answer about some of the examples each. Dawid and Skene (crowd-kit) sees answers
    alone; the learner with unknown lapse rates sees the examples, too.
    """
    import pandas as pd
    from crowdkit.aggregation import DawidSkene, MajorityVote  # type: ignore[import-not-found]

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 2))
    theta = rng.standard_normal(2)
    truth = (X @ theta > 0).astype(int)
    rates = np.array([0.05, 0.1, 0.2, 0.3, 0.4])
    unknown = UnknownLapse(Logistic(), symmetric=True)
    experts = [Expert(unknown, 1.0, f"person {place}") for place in range(len(rates))]
    learner = Learner(X, Laplace(Logistic(), 0.05), experts=experts, seed=seed)
    rows = []
    for expert, rate in zip(experts, rates, strict=True):
        asked = rng.choice(150, size=answers_each, replace=False)
        said = np.where(rng.random(answers_each) < rate, 1 - truth[asked], truth[asked])
        learner.tell(asked, said.tolist(), expert=expert.name)
        rows += [(task, expert.name, label) for task, label in zip(asked, said, strict=True)]
    frame = pd.DataFrame(rows, columns=pd.Index(["task", "worker", "label"]))
    model = DawidSkene(n_iter=100).fit(frame)
    errors = model.errors_
    theirs = np.array(
        [
            0.5 * sum(1 - errors.loc[(expert.name, label), label] for label in (0, 1))
            for expert in experts
        ]
    )
    ours = np.array([learner.rates()[expert.name][0] for expert in experts])
    told = sorted(set(frame.task))
    votes, labels = MajorityVote().fit_predict(frame), model.labels_
    right = {
        "majority": float(np.mean(votes.loc[told].to_numpy() == truth[told])),
        "Dawid and Skene": float(np.mean(labels.loc[told].to_numpy() == truth[told])),
        "unknown lapse rates": float(np.mean(learner.predict(X[told]) == truth[told])),
    }
    error = {"majority": np.nan}
    error["Dawid and Skene"] = float(np.sqrt(np.mean(np.square(theirs - rates))))
    error["unknown lapse rates"] = float(np.sqrt(np.mean(np.square(ours - rates))))
    return {name: (error[name], right[name]) for name in right}


def crowds(seeds: int) -> None:
    """Print the table of simulated crowds."""
    for answers_each in (30, 60, 120):
        found = [crowd(seed, answers_each) for seed in range(seeds)]
        print(f"\n{answers_each} answers each, {seeds} crowds: error of the rates, right labels")
        for name in found[0]:
            error, right = (np.array([each[name][place] for each in found]) for place in (0, 1))
            print(f"| {name} | {error.mean():.3f} | {right.mean():.3f} |")


def draw(path: str) -> None:
    """Bits for the money of each expert against the spread of l, for both panels."""
    from matplotlib.figure import Figure

    from channelcode import mutual_information
    from channelcode.measures import gaussian_pool

    spread = np.geomspace(0.1, 20.0, 80)
    canvas = Figure(figsize=(8.4, 3.2), layout="constrained")
    centres = {"symmetric": 0.0, "one-sided": 1.5}
    for axis, (name, panel) in zip(canvas.subplots(1, 2), PANELS.items(), strict=True):
        laws = gaussian_pool(np.full(len(spread), centres[name]), spread**2)
        for expert, dashes in zip(panel, ("-", "--", ":"), strict=True):
            bits = np.asarray(mutual_information(expert.channel, laws).bits)
            label = f"{expert.name}, price {expert.cost:g}"
            axis.plot(spread, bits / expert.cost, dashes, label=label)
        axis.set_xscale("log")
        axis.set_xlabel(f"deviation of l (its mean is {centres[name]:g})")
        axis.set_ylabel("bits for the money")
        axis.set_title(f"{name} errors", fontsize=10)
        axis.grid(alpha=0.25)
        axis.legend(frameon=False, fontsize=8)
    canvas.savefig(path, dpi=110)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--crowds", action="store_true", help="against crowd-kit instead")
    parser.add_argument("--picture", help="draw bits for the money instead")
    options = parser.parse_args()
    seeds = options.seeds
    if options.picture:
        draw(options.picture)
        return
    if options.crowds:
        crowds(seeds)
        return
    for name, panel in PANELS.items():
        prices_of(name, panel, seeds)


def prices_of(title: str, panel: tuple[Expert, ...], seeds: int) -> None:
    """Print the tables of one panel."""
    methods: dict[str, tuple[tuple[Expert, ...], object]] = {
        "gain per cost, any expert": (panel, GainPerCost()),
        "gain, any expert": (panel, InformationGain()),
    }
    methods |= {f"gain, always {e.name}": ((e,), GainPerCost()) for e in panel}
    curves = {
        name: [cost_curve(seed, panel, *method) for seed in range(seeds)]
        for name, method in methods.items()
    }
    for share in SHARES:
        prices = {
            name: np.array([price_of(curve, share) for curve in held])
            for name, held in curves.items()
        }
        fixed = min((name for name in prices if "always" in name), key=lambda n: prices[n].mean())
        print(f"\n{title}: price until {share:.0%} of the classes are right, {seeds} seeds")
        for name, values in prices.items():
            mean, low, high = interval(values)
            missed = int(np.sum(values >= BUDGET))
            print(f"| {name} | {mean:.1f} | {low:.1f} to {high:.1f} | {missed} |")
        mean, low, high = interval(prices["gain per cost, any expert"] - prices[fixed])
        print(f"gain per cost less {fixed}: {mean:+.1f} ({low:+.1f} to {high:+.1f})")


if __name__ == "__main__":
    main()
