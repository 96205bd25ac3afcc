"""Grids beside questplus, particles beside the package `particles`, networks beside laplace-torch.

questplus 2023.1: the experiments of tests/data/encoders.json, 40 trials, each a choice of the next
stimulus and an update; CPU time without setting up (there the likelihoods of all stimuli, here the
same table), and in the last column with it. The package `particles` 0.4: one location model with 30
labels (IBIS, waste-free), the same number of draws; beside the time the error of the mean over the
runs, in posterior deviations. laplace-torch 0.3: the Gauss-Newton matrix of all weights at given
weights (`fit`; ours factors it, too), and the laws of the outputs of 500 examples after it; its two
backends, all examples in one batch, which suits it best, and in batches of 64. The packages are
installed for this comparison only; what is not there is left out:

    pip install questplus==2023.1 particles==0.4 laplace-torch==0.3
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

AIM = 50.0
NETWORK_AIM = 5.0
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


def network_rows(repeats: int) -> list[tuple[str, float, float, float, float, float]]:
    """Weights and backend, ms to fit here and there, the same with laws of 500 rows, difference."""
    import torch
    from laplace import Laplace as TheirLaplace  # type: ignore[import-not-found]
    from laplace.curvature import BackPackGGN, CurvlinopsGGN  # type: ignore[import-not-found]
    from torch.utils.data import DataLoader, TensorDataset

    from apm import Belief, Laplace, TorchNetwork
    from channelcode import Softmax

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # else its matrix products are in single precision
    rng, rows = np.random.default_rng(0), []
    for d, hidden, k, n in ((6, 10, 3, 500), (10, 16, 3, 500), (8, 24, 10, 300)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layers = torch.nn.Linear(d, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, k)
            network = torch.nn.Sequential(*layers).double()
        X, y, test = rng.normal(size=(n, d)), rng.integers(k, size=n), rng.normal(size=(500, d))
        encoder = TorchNetwork(network)
        prior: Any = Laplace(Softmax(k), 0.5, encoder=encoder, restarts=0)

        def ours(prior: Any = prior, at: Any = encoder.start, X: Any = X, y: Any = y) -> Any:
            return prior.fit_at(at, X, y)

        own_fit = spent(ours, 3 * repeats)
        own_laws = spent(lambda test=test: Belief(ours()).push(test), 3 * repeats)
        laws: Any = Belief(ours()).push(test)
        data = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
        for backend in (CurvlinopsGGN, BackPackGGN):
            for batch in (n, 64):
                loader = DataLoader(data, batch_size=batch)

                def theirs(
                    backend: Any = backend, loader: Any = loader, network: Any = network
                ) -> Any:
                    held = TheirLaplace(
                        network, "classification", subset_of_weights="all",
                        hessian_structure="full", prior_precision=0.5, backend=backend,
                    )  # fmt: skip
                    held.fit(loader)
                    return held

                def predicted(test: Any = test) -> Any:
                    return theirs()._glm_predictive_distribution(torch.from_numpy(test))

                mean, spread = (part.detach().numpy() for part in predicted())
                centre = np.eye(k) - 1.0 / k
                wrong = max(
                    np.abs(laws.mean - mean @ centre).max() / np.abs(mean).max(),
                    np.abs(laws.covariance - centre @ spread @ centre).max() / np.abs(spread).max(),
                )
                name = f"{encoder.num_parameters} {backend.__name__} {batch}"
                fit, whole = spent(theirs, repeats), spent(predicted, repeats)
                rows.append((name, own_fit, fit, own_laws, whole, float(wrong)))
    return rows


def spent(run: Callable[[], object], repeats: int) -> float:
    """The least CPU milliseconds of a call."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return 1e3 * min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    there = {name for name in ("questplus", "particles", "laplace") if find_spec(name) is not None}
    if "questplus" in there:
        print_questplus(options.repeats)
    if "particles" in there:
        print(f"\n{'30 labels':16}{'ms':>14}{'rms error':>12}")
        for name, spent_on, wrong in particles_rows(options.repeats, options.draws):
            print(f"{name:16}{spent_on:14.0f}{wrong:12.3f}")
    if "laplace" in there:
        print(f"\n{'weights, backend, batch':26}{'fit, ms':>9}{'theirs':>9}{'times':>7}"
              f"{'with laws':>11}{'theirs':>9}{'times':>7}{'difference':>12}")  # fmt: skip
        for name, own, fit, laws, whole, wrong in network_rows(options.repeats):
            print(f"{name:26}{own:9.1f}{fit:9.1f}{fit / own:7.1f}{laws:11.1f}{whole:9.1f}"
                  f"{whole / laws:7.1f}{wrong:12.0e}")  # fmt: skip
        print(f"(aim: {NETWORK_AIM:g} times the fit by its own default, CurvlinopsGGN)")


def print_questplus(repeats: int) -> None:
    """The table of experiments."""
    print(f"{'experiment':16}{'us per trial':>14}{'questplus':>12}{'times':>8}{'all in':>8}")
    for name, ours, theirs in questplus_rows(repeats):
        times = theirs / ours
        print(f"{name:16}{ours[0]:14.0f}{theirs[0]:12.0f}{times[0]:8.0f}{times[1]:8.0f}")
    print(f"(aim: {AIM:g} times, per trial)")


if __name__ == "__main__":
    main()
