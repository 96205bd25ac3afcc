"""The interior point for fewer letters than outputs: O(n^2 |Y|) a step."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.solvers.letters import Letters

SHORTEN = 0.95  # of the longest step that keeps every weight and slack positive
CENTRED = 0.1  # of the mean complementarity, the aim of the next step


def maximise_few(
    alphabet: Letters, *, tol: float, max_steps: int = 100
) -> tuple[Array, float, int]:
    """Weights `(n,)`, multiplier and steps: primal-dual Newton steps on the weights themselves.

    With M = W diag(1/q) W' + diag(z/p) each step solves M dp = r - dc - ds b for the change of the
    weights, of the level c and of the multiplier s; slacks p z and s (P - E b) are led to zero. The
    law with the least gap on the way is the answer.
    """
    rows, cost = alphabet.matrix, alphabet.cost
    limited = alphabet.budget < np.inf
    weights = alphabet.start()
    level, slack, s = 0.0, np.full(len(rows), 0.01) / weights, 0.01 if limited else 0.0
    best, best_s, least = weights, 0.0, np.inf
    steps = 0
    for _ in range(max_steps):
        output = weights @ rows
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = -alphabet.entropy - rows @ np.log(output)
            room = 1.0 - float(weights @ cost) if limited else 0.0
            gap = float((divergence - s * cost).max() + s - weights @ divergence)
        if not np.isfinite(gap):
            break
        if gap < least:
            best, best_s, least = weights, s, gap
        if gap <= tol:
            break
        steps += 1
        mean = float(weights @ slack + s * room) / (len(weights) + limited)
        target = CENTRED * max(mean, 1e-18)
        # a weight of 1e-320 is none, and a price of it neither: what is not finite ends the search
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            change = _step(rows, cost, weights, slack, divergence, output, level, s, room, target)
            if change is None:
                break
            moved, risen, dearer = change
            fallen = target / weights - slack - slack / weights * moved
        if not np.isfinite(fallen).all():
            break
        spent = float(moved @ cost) if limited else 0.0
        parts = [(weights, moved), (slack, fallen)]
        if limited:
            parts += [(np.array([room]), np.array([-spent])), (np.array([s]), np.array([dearer]))]
        length = min([1.0, *(SHORTEN * longest(x, dx) for x, dx in parts)])
        weights, slack = weights + length * moved, slack + length * fallen
        level, s = level + length * risen, s + length * dearer
    return best, best_s, steps


def longest(values: Array, change: Array) -> float:
    """How far positive values can follow a change and stay positive."""
    falling = change < 0
    with np.errstate(over="ignore"):  # beyond the doubles is as far as one likes
        return float((-values[falling] / change[falling]).min()) if falling.any() else np.inf


def _step(
    rows: Array, cost: Array, weights: Array, slack: Array, divergence: Array, output: Array,
    level: float, s: float, room: float, target: float,
) -> tuple[Array, float, float] | None:  # fmt: skip
    scaled = rows / np.sqrt(output)
    matrix = scaled @ scaled.T
    matrix[np.diag_indices_from(matrix)] += slack / weights
    residual = divergence - 1.0 - level - s * cost + target / weights
    count = len(weights)
    try:
        free, flat, dear = np.linalg.solve(
            matrix, np.stack([residual, np.ones(count), cost], axis=1)
        ).T
    except np.linalg.LinAlgError:
        return None
    missing = 1.0 - float(weights.sum())
    if s > 0:
        system = np.array(
            [[flat.sum(), dear.sum()], [float(cost @ flat), float(cost @ dear) + room / s]]
        )
        right = np.array([free.sum() - missing, float(cost @ free) + target / s - room])
        try:
            risen, dearer = np.linalg.solve(system, right)
        except np.linalg.LinAlgError:
            return None
    else:
        risen, dearer = (free.sum() - missing) / flat.sum(), 0.0
    moved = free - risen * flat - dearer * dear
    if not np.isfinite(moved).all():
        return None
    return moved, float(risen), float(dearer)
