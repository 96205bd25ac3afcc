"""Posterior updates: the compiled fixed point beside plain vectorised EM, side by side.

Both are warm-started at every label. Plain EM stops when xi changes by less than 1e-6 (relative),
as in the reference figures, or, in a second column, within 1e-8 of the fixed point; the compiled
one stops at 1e-10. The labels are those of tests/data (42 of APM-LR's own picks, or the rows of a
reference posterior) and of synthetic sets. CPU time, one thread. Aim: 20 times faster to the same
fixed point.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from apm.belief import Belief  # noqa: E402
from apm.posteriors import VariationalLogistic  # noqa: E402

AIM = 20.0
PRECISION = 0.01
DATA = Path(__file__).parent.parent / "tests" / "data"
# In two dimensions with noisy labels plain EM is at its best: few steps, and each of them cheap.
SYNTHETIC = {"synthetic d=2": (42, 2), "synthetic d=16": (42, 16), "synthetic d=30": (42, 30)}
Labelled = tuple[np.ndarray, np.ndarray]


def labelled_sets() -> dict[str, Labelled]:
    """Examples and labels in the order in which they were learnt."""
    sets = {}
    for name, run in json.loads((DATA / "trajectories.json").read_text())["datasets"].items():
        if "raw_X" not in run:
            continue
        pool = np.array(run["raw_X"])[run["train_idx"]]
        pool = (pool - pool.mean(axis=0)) / pool.std(axis=0)
        order = [*run["seed_idx"], *run["methods"]["APM-LR"]["picks"]]
        sets[name] = pool[order], np.array(run["raw_Y"])[run["train_idx"]][order]
    for record in json.loads((DATA / "posterior.json").read_text())["records"]:
        if record["name"] in ("austra-n20", "vehicle-full-n42", "wdbc-n15"):
            sets[record["name"]] = np.array(record["X"]), np.array(record["y"])
    return sets | {name: synthetic(*shape, 0) for name, shape in SYNTHETIC.items()}


def synthetic(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardised, correlated features and labels of a noisy hyperplane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X @ rng.standard_normal(d) + rng.logistic(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    return X, y


def plain_em(
    X: np.ndarray, y: np.ndarray, xi: np.ndarray, tol: float, target: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Textbook EM on whole arrays; stops on the change of xi, or within tol of `target`."""
    pull = X.T @ (y - 0.5)
    prior = PRECISION * np.eye(X.shape[1])
    for sweep in range(1, 100_000):
        lam = np.tanh(xi / 2) / (4 * xi)
        covariance = np.linalg.inv(prior + (X.T * (2 * lam)) @ X)
        mean = covariance @ pull
        new = np.sqrt(((X @ covariance) * X).sum(axis=1) + (X @ mean) ** 2)
        goal = xi if target is None else target
        done = np.abs(new / goal - 1).max() < tol
        xi = new
        if done:
            return mean, covariance, xi, sweep
    raise RuntimeError("plain EM did not arrive")


def run_compiled(X: np.ndarray, y: np.ndarray) -> tuple[float, int, list[np.ndarray]]:
    posterior = VariationalLogistic(PRECISION).fit(X[:2], y[:2])
    steps, xis = 0, []
    begun = time.process_time()
    for row, label in zip(X[2:], y[2:].tolist(), strict=True):
        posterior = posterior.update(row, label)
        steps += posterior.steps
        xis.append(posterior.xi)
    return time.process_time() - begun, steps, xis


def run_plain(
    X: np.ndarray, y: np.ndarray, tol: float, targets: list[np.ndarray] | None
) -> tuple[float, int]:
    mean, covariance, xi, _ = plain_em(X[:2], y[:2], np.ones(2), tol, None)
    steps = 0
    begun = time.process_time()
    for k in range(2, len(X)):
        first = np.sqrt(X[k] @ covariance @ X[k] + (X[k] @ mean) ** 2)
        target = None if targets is None else targets[k - 2]
        xi = np.append(xi, first)
        mean, covariance, xi, sweeps = plain_em(X[: k + 1], y[: k + 1], xi, tol, target)
        steps += sweeps
    return time.process_time() - begun, steps


def updates(sets: dict[str, Labelled], trials: int) -> None:
    print("one update: microseconds (median over trials) and steps")
    print(f"{'':18}{'compiled':>15}{'EM to 1e-6':>18}{'EM to 1e-8':>18}{'ratios':>14}")
    for name, (X, y) in sets.items():
        y = (y == y.max()).astype(int)
        run_compiled(X, y)
        rows = []
        for _ in range(trials):
            ours, our_steps, xis = run_compiled(X, y)
            loose, loose_steps = run_plain(X, y, 1e-6, None)
            tight, tight_steps = run_plain(X, y, 1e-8, xis)
            rows.append((ours, loose, tight, our_steps, loose_steps, tight_steps))
        a, b, c, i, j, k = np.median(np.array(rows) / (len(X) - 2), axis=0)
        verdict = "ok" if c / a >= AIM else "BELOW THE AIM"
        print(
            f"{name:18}{a * 1e6:8.0f} ({i:4.1f}){b * 1e6:10.0f} ({j:5.0f})"
            f"{c * 1e6:10.0f} ({k:5.0f}){b / a:7.0f}{c / a:7.0f}  {verdict}"
        )


def retraining(sets: dict[str, Labelled], trials: int) -> None:
    print("\nMAP weights after every label, microseconds each")
    for name, (X, y) in sets.items():
        seconds = []
        for _ in range(trials):
            posterior = VariationalLogistic(PRECISION).fit(X[:2], y[:2])
            total = 0.0
            for row, label in zip(X[2:], y[2:].tolist(), strict=True):
                posterior = posterior.update(row, label)
                begun = time.process_time()
                _ = posterior.map
                total += time.process_time() - begun
            seconds.append(total / (len(X) - 2))
        print(f"{name:18}{np.median(seconds) * 1e6:8.0f}")


def push(repeats: int) -> None:
    print("\npush of a 100,000 x 64 pool beside the product X @ Sigma, milliseconds")
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((100_000, 64))
    belief = Belief(VariationalLogistic()).fit(pool[:50], (pool[:50, 0] > 0).astype(int))
    for dtype in (np.float64, np.float32):
        X, covariance = pool.astype(dtype), belief.posterior.covariance.astype(dtype)
        times = []
        for _ in range(repeats):
            a = time.process_time()
            _ = X @ covariance
            b = time.process_time()
            belief.push(X)
            times.append((b - a, time.process_time() - b))
        product, ours = 1e3 * np.median(np.array(times), axis=0)
        print(f"{dtype.__name__:8}{product:8.1f}{ours:8.1f}   ratio {ours / product:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    trials = parser.parse_args().trials
    sets = labelled_sets()
    updates(sets, trials)
    retraining(sets, trials)
    push(3 * trials)


if __name__ == "__main__":
    main()
