"""Capacity solvers side by side, every answer judged by the same certificate.

Run `python benchmarks/bench_capacity.py [--quick] [problem ...]` with problems a to e. For each
problem: seconds (best of a few warm runs, one core), the gap in bits that our own bound certifies
for the law each method returns, and the ratio to the interior point. Peers: textbook
Blahut-Arimoto with an outer bisection on the multiplier (plain numpy, below), cvxpy with Clarabel
and with SCS, and dit if it is installed. A peer is stopped after `--limit` seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from channelcode import DiscreteChannel, Logistic, Ordinal, Probit, Softmax, restrict  # noqa: E402
from channelcode.capacity import (  # noqa: E402
    BlahutArimoto,
    Continuous,
    InteriorPoint,
    Power,
    Problem,
    Unconstrained,
    capacity,
    capacity_curve,
    certify,
)

TOL = 1e-9
LOG_TWO = float(np.log(2.0))
Law = tuple[np.ndarray, float]


def problems() -> dict[str, tuple[str, DiscreteChannel, Any]]:
    """The five problems of the project's goals."""
    line = np.linspace(-10.0, 10.0, 401)
    basis = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]])
    basis /= np.linalg.norm(basis, axis=1, keepdims=True)
    side = np.linspace(-6.0, 6.0, 61)
    plane = np.array([x * basis[0] + y * basis[1] for x in side for y in side])

    def random(size: int) -> DiscreteChannel:
        rows = np.random.default_rng(0).dirichlet(np.ones(size), size=size)
        return DiscreteChannel(rows)

    return {
        "a": ("logistic, P = 4, 401 points", restrict(Logistic(), line), Power(4.0)),
        "b": ("probit, P = 1, 401 points", restrict(Probit(), line), Power(1.0)),
        "c": ("softmax 3, P = 4, 61 x 61 points", restrict(Softmax(3), plane), Power(4.0)),
        "d": ("random 64 x 64", random(64), Unconstrained()),
        "e": ("random 512 x 512", random(512), Unconstrained()),
    }


def textbook(matrix: np.ndarray, cost: np.ndarray, budget: float, limit: float) -> Law:
    """Blahut-Arimoto in plain numpy; the multiplier by bisection outside."""
    deadline = time.perf_counter() + limit
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.where(matrix > 0, matrix * np.log(matrix), 0.0).sum(axis=1)

    def solve(s: float) -> np.ndarray:
        weights = np.full(len(matrix), 1.0 / len(matrix))
        while time.perf_counter() < deadline:
            divergence = order - matrix @ np.log(weights @ matrix) - s * cost
            mean = weights @ divergence
            if divergence.max() - mean <= 0.25 * TOL * LOG_TWO:
                break
            weights = weights * np.exp(divergence - divergence.max())
            weights /= weights.sum()
        return weights

    if budget == np.inf:
        return solve(0.0), 0.0
    low, high = 0.0, 1.0
    while solve(high) @ cost > budget and time.perf_counter() < deadline:
        high *= 2.0
    weights = solve(high)
    while high - low > 1e-12 and time.perf_counter() < deadline:
        middle = 0.5 * (low + high)
        trial = solve(middle)
        if trial @ cost > budget:
            low = middle
        else:
            high, weights = middle, trial
            if budget - trial @ cost < 1e-10 * budget:
                break
    return weights, high


def with_cvxpy(solver: str, settings: dict[str, Any]) -> Callable[..., Law]:
    """max sum entr(W'p) - h'p as a cone program."""

    def run(matrix: np.ndarray, cost: np.ndarray, budget: float, limit: float) -> Law:
        import cvxpy as cp

        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.where(matrix > 0, matrix * np.log(matrix), 0.0).sum(axis=1)
        weights = cp.Variable(len(matrix), nonneg=True)
        constraints: list[Any] = [cp.sum(weights) == 1]
        if budget < np.inf:
            constraints.append(cost @ weights <= budget)
        goal = cp.Maximize(cp.sum(cp.entr(matrix.T @ weights)) - entropy @ weights)
        problem = cp.Problem(goal, constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            key = "time_limit_secs" if solver == "SCS" else "time_limit"
            problem.solve(solver=solver, **settings, **{key: limit})
        found = np.maximum(np.asarray(weights.value), 0.0)
        found /= found.sum()
        spent = float(found @ cost)
        if spent > budget:  # cone solvers meet constraints to a tolerance only
            found *= budget / spent
            found[int(np.argmin(cost))] += 1.0 - found.sum()
        s = float(constraints[1].dual_value or 0.0) if budget < np.inf else 0.0
        return found, max(s, 0.0)

    return run


def with_dit(matrix: np.ndarray, cost: np.ndarray, budget: float, limit: float) -> Law:
    """dit's Blahut-Arimoto, which knows no costs."""
    del cost, limit
    import dit  # type: ignore[import-not-found]

    if budget < np.inf:
        raise NotImplementedError("dit has no cost constraint")
    rows = [dit.Distribution([str(y) for y in range(len(r))], r) for r in matrix]
    _, marginal = dit.algorithms.channel_capacity(rows)
    return np.asarray(marginal.pmf), 0.0


PEERS: dict[str, Callable[..., Law]] = {
    "textbook BA (numpy)": textbook,
    "cvxpy Clarabel": with_cvxpy(
        "CLARABEL", {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    ),
    "cvxpy SCS": with_cvxpy("SCS", {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000}),
    "dit": with_dit,
}


def fastest(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The best wall time of several runs, and the last answer."""
    best, answer = np.inf, None
    for _ in range(repeats):
        started = time.perf_counter()
        answer = run()
        best = min(best, time.perf_counter() - started)
        if best > 5.0:
            break
    return best, answer


def gap_of(channel: DiscreteChannel, constraint: Any, law: Law) -> float:
    """The gap in bits that our certificate gives to a peer's law, idle letters left out."""
    weights, multiplier = law
    keep = weights > 1e-14
    masses = weights[keep] / weights[keep].sum()
    problem = Problem(channel, constraint)
    bounds = certify(problem, channel.inputs[keep], masses, multiplier, tol=TOL * LOG_TWO)
    return (bounds.upper - bounds.lower) / LOG_TWO


def compare(name: str, limit: float, repeats: int) -> None:
    title, channel, constraint = problems()[name]
    print(f"\n({name}) {title}")
    ours: dict[str, float] = {}
    for solver in (InteriorPoint(), BlahutArimoto()):
        capacity(channel, constraint, solver=solver, throw=False)  # compile and warm
        seconds, result = fastest(
            lambda s=solver: capacity(channel, constraint, solver=s, throw=False), repeats
        )
        label = type(solver).__name__
        ours[label] = seconds
        print(
            f"  {label:22s} {seconds * 1e3:12.2f} ms   gap {result.gap:8.1e}   {result.bits:.12f}"
        )
    reference = ours["InteriorPoint"]
    letters = channel.inputs
    cost = np.zeros(len(letters))
    budget = np.inf
    if isinstance(constraint, Power):
        cost = letters**2 if letters.ndim == 1 else (letters**2).sum(axis=1)
        budget = constraint.power
    for label, peer in PEERS.items():
        try:
            seconds, law = fastest(
                lambda p=peer: p(channel.matrix, cost, budget, limit), min(repeats, 3)
            )
            gap = gap_of(channel, constraint, law)
        except ImportError:
            print(f"  {label:22s} not installed, skipped")
            continue
        except Exception as error:  # a peer that fails is a result, not a reason to stop
            print(f"  {label:22s} failed: {type(error).__name__}: {str(error)[:60]}")
            continue
        note = "" if gap <= TOL else "   misses 1e-9"
        if seconds >= limit:
            note += ", stopped at the limit"
        print(
            f"  {label:22s} {seconds * 1e3:12.2f} ms   gap {gap:8.1e}   "
            f"{seconds / reference:10.1f} x{note}"
        )


def continuous(repeats: int) -> None:
    print("\ncontinuous input, no grid")
    for label, channel in (("logistic", Logistic()), ("ordinal -1, 1", Ordinal([-1.0, 1.0]))):
        solver = Continuous()
        capacity(channel, Power(4.0), solver=solver)
        seconds, result = fastest(
            lambda c=channel, s=solver: capacity(c, Power(4.0), solver=s), repeats
        )
        print(f"  {label:22s} {seconds * 1e3:12.2f} ms   gap {result.gap:8.1e}")
    seconds, _ = fastest(lambda: capacity(Logistic(), Power(4.0)), 200)
    print(f"  {'logistic, closed form':22s} {seconds * 1e6:12.1f} us")


def curves() -> None:
    print("\na curve of 200 powers against 200 calls")
    powers = np.geomspace(0.1, 30.0, 200)
    for label, channel, solver in (
        ("ordinal -1, 1", Ordinal([-1.0, 1.0]), None),
        ("logistic, Continuous", Logistic(), Continuous()),
        ("logistic, closed form", Logistic(), None),
    ):
        together, curve = fastest(
            lambda c=channel, s=solver: capacity_curve(c, powers, solver=s).bits, 2
        )
        apart, single = fastest(
            lambda c=channel, s=solver: [capacity(c, Power(p), solver=s).bits for p in powers], 1
        )
        worst = float(np.abs(np.asarray(curve) - np.asarray(single)).max())
        print(
            f"  {label:22s} {together * 1e3:12.2f} ms   {apart * 1e3:12.2f} ms   "
            f"{apart / together:8.1f} x   largest difference {worst:.1e}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list("abcde"))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each peer")
    parser.add_argument("--quick", action="store_true", help="five seconds for each peer")
    arguments = parser.parse_args()
    limit = 5.0 if arguments.quick else arguments.limit
    for name in arguments.names:
        compare(name, limit, repeats=5)
    continuous(repeats=10)
    curves()
    return 0


if __name__ == "__main__":
    sys.exit(main())
