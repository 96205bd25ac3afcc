"""Grids beside questplus, particles beside the package `particles`, in one run each.

questplus 2023.1: the experiments of tests/data/encoders.json, 40 trials, each a choice of the next
stimulus and an update; CPU time without setting up (there the likelihoods of all stimuli, here the
same table), and in the last column with it. The package `particles` 0.4: one location model with 30
labels (IBIS, waste-free), the same number of draws; beside the time the error of the mean over the
runs, in posterior deviations. Both packages are installed for this comparison only:

    pip install questplus==2023.1 particles==0.4
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

AIM = 50.0
ROOT = Path(__file__).parent.parent


Times = tuple[float, float]


def fastest(run: Callable[[], Times], repeats: int) -> np.ndarray:
    """The least of each time, over runs."""
    return np.min([run() for _ in range(repeats)], axis=0)


def questplus_rows(repeats: int) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Experiment, microseconds per trial here and by questplus, without and with setting up."""
    import questplus

    from apm import Belief
    from tests.apm.posteriors.samples.models import quest

    rows = []
    for name in ("weibull_2afc", "normcdf_yesno"):
        grid, stimuli, figures = quest(name)
        trials = list(zip(figures["picks"], figures["responses"]))

        def ours(grid: Any = grid, stimuli: Any = stimuli, trials: Any = trials) -> Times:
            whole = time.process_time()
            belief = Belief(grid.restored(grid.state()))  # without what an earlier run kept
            belief.information_gain(stimuli)
            start = time.process_time()
            for pick, answer in trials:
                belief.information_gain(stimuli).argmax()
                belief = belief.update([pick], answer)
            return time.process_time() - start, time.process_time() - whole

        def theirs(figures: Any = figures, trials: Any = trials) -> Times:
            whole = time.process_time()
            plan = questplus.QuestPlus(
                stim_domain={"intensity": figures["stim"]},
                param_domain=figures["params"],
                outcome_domain={"response": ["Correct", "Incorrect"]},
                func=figures["func"],
                stim_scale=figures["scale"],
                stim_selection_method="min_entropy",
                param_estimation_method="mean",
            )
            start = time.process_time()
            for pick, answer in trials:
                _ = plan.next_stim
                outcome = {"response": "Correct" if answer else "Incorrect"}
                plan.update(stim={"intensity": pick}, outcome=outcome)
            return time.process_time() - start, time.process_time() - whole

        ours()
        scale = 1e6 / len(trials)
        rows.append((name, scale * fastest(ours, 3 * repeats), scale * fastest(theirs, repeats)))
    return rows


def particles_rows(repeats: int, draws: int) -> list[tuple[str, float, float]]:
    """Package, milliseconds for 30 labels, error of the mean in deviations."""
    import particles
    from particles import distributions, smc_samplers

    from apm import Particles
    from tests.apm.posteriors.samples.models import smc

    channel, encoder, prior, X, y, figures = smc("locate")
    deviations = np.sqrt(np.diag(figures["covariance"]))

    def error(mean: Any) -> float:
        return float(np.sqrt(np.mean(np.square((mean - figures["mean"]) / deviations))))

    class Locate(smc_samplers.StaticModel):
        def logpyt(self, theta: Any, t: int) -> Any:
            values = np.stack([theta["u"], theta["v"], theta["b"]], axis=1)
            return channel.log_prob(encoder.inputs(values, X[t : t + 1])[0])[:, y[t]]

    laws = {
        name: distributions.Normal(loc=mean, scale=scale)
        for name, mean, scale in zip("uvb", figures["mu0"], figures["sd0"])
    }
    rows: dict[str, tuple[list[float], list[float]]] = {"apm": ([], []), "particles": ([], [])}
    for seed in range(repeats):
        start = time.perf_counter()
        found = Particles(channel, encoder, prior, samples=draws, rng=seed).update(X, y)
        rows["apm"][0].append(time.perf_counter() - start)
        rows["apm"][1].append(error(found.mean))
        np.random.seed(seed)  # noqa: NPY002 (the package has no other stream)
        model = Locate(data=y, prior=distributions.StructDist(laws))
        start = time.perf_counter()
        run = particles.SMC(fk=smc_samplers.IBIS(model=model, len_chain=6), N=draws // 6)
        run.run()
        rows["particles"][0].append(time.perf_counter() - start)
        theta: Any = run.X.theta
        mean = [np.average(theta[name], weights=run.W) for name in "uvb"]
        rows["particles"][1].append(error(np.array(mean)))
    return [
        (name, 1e3 * float(np.median(seconds)), float(np.sqrt(np.mean(np.square(errors)))))
        for name, (seconds, errors) in rows.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'experiment':16}{'us per trial':>14}{'questplus':>12}{'times':>8}{'all in':>8}")
    for name, ours, theirs in questplus_rows(options.repeats):
        times = theirs / ours
        print(f"{name:16}{ours[0]:14.0f}{theirs[0]:12.0f}{times[0]:8.0f}{times[1]:8.0f}")
    print(f"(aim: {AIM:g} times, per trial)")
    print(f"\n{'30 labels':16}{'ms':>14}{'rms error':>12}")
    for name, spent, wrong in particles_rows(options.repeats, options.draws):
        print(f"{name:16}{spent:14.0f}{wrong:12.3f}")


if __name__ == "__main__":
    main()
