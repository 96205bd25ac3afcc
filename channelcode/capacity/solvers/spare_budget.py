"""Finite alphabets whose budget is next to the least cost: what the spare part of it buys.

With e = budget - least cost and (p0, q0, C0) the optimum on the letters of least cost, a law
p = p0 + e u, u_i >= 0 on the dearer letters with sum u_i (b_i - least) = 1, has to first order

    I = C0 + e [ sum_i u_i (D_i - C0) - sum_(y missed by q0) r_y (ln(e r_y) - 1) ]

with r = sum_i u_i W_i, where D_i is sum_y W_i ln W_i/q0 on outputs that q0 has and sum_y W_i ln W_i
on the others. If no output is missed one letter is best: dC/dP = max (D_i - C0)/(b_i - least).
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import divergence, law_value
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.interior_point import maximise
from channelcode.capacity.solvers.letters import prepare

MOST_SHARE = 1e-7  # of the dearer letters: the second order is below this, relatively
BASE_TOL = 1e-13  # nats: the multiplier is no better than q0
ROUNDS = 400  # fixed-point steps for one multiplier
HALVINGS = 80


def spare_budget_law(problem: Problem, *, tol: float) -> Proposal | None:
    """The law that is optimal to first order in the spare budget; None where that is not small."""
    limit = problem.limits
    if limit.cost is None or not problem.is_finite:
        return None
    points, matrix, cost = problem.letters()
    spare = limit.budget - float(cost.min())
    above = cost - cost.min()
    dearer = above > 0.0
    if not dearer.any() or not 0.0 < spare <= MOST_SHARE * float(above[dearer].min()):
        return None
    if np.count_nonzero(~dearer) > 1 and spare > 0.05 * tol * float(above[dearer].min()):
        return None  # that p0 moves as well is left out
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    base = prepare(points[~dearer], logs[~dearer], cost[~dearer], np.inf)
    weights, _, steps, _ = maximise(base, tol=BASE_TOL)
    atoms, masses = base.expand(weights, 0.0, tol=BASE_TOL)
    same = (points[None] == atoms[:, None]).reshape(len(atoms), len(points), -1).all(axis=2)
    places = same.argmax(axis=1)
    found = law_value(logs[places], masses)
    rows, prices = matrix[dearer], above[dearer]
    missed = found.output <= 0.0
    common = np.where(missed, 1.0, found.output)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0.0, rows * (logs[dearer] - np.log(common)), 0.0)
    gains = terms.sum(axis=1) - found.nats
    if not (rows[:, missed] > 0.0).any():
        gains = divergence(logs[dearer], found.output) - found.nats
        best = int(np.argmax(gains / prices))
        slope = max(float(gains[best] / prices[best]), 0.0)
        shares = np.zeros(len(prices))
        shares[best] = spare / prices[best] if slope > 0.0 else 0.0
    else:
        slope, shares = _with_new_outputs(gains, rows[:, missed], prices, spare)
    law = np.zeros(len(points))
    law[places] = masses * (1.0 - shares.sum())
    law[dearer] = shares
    used = law > 0.0
    return Proposal(points[used], law[used], slope, "SpareBudget", steps)


def _with_new_outputs(
    gains: Array, rows: Array, prices: Array, spare: float
) -> tuple[float, Array]:
    """The multiplier and the shares e u, where letters bring outputs of their own, `rows` `(n, z)`.

    For a multiplier s the shares solve gain_i - sum_y W_iy ln(e r_y) = s b_i, found by steps that
    never lower the objective (those of Blahut and Arimoto); the budget is met by bisection on s.
    """
    mass = rows.sum(axis=1)
    fresh = mass > 0.0
    plain = float(np.max(gains[~fresh] / prices[~fresh], initial=0.0))
    scale = float(np.log(spare))

    def logs_of(s: float) -> Array:
        """ln u of the letters that bring outputs."""
        log_u = -np.log(prices[fresh]) - 1.0
        for _ in range(ROUNDS):
            top = log_u.max()
            mixed = np.log(np.maximum(np.exp(log_u - top) @ rows[fresh], 1e-300)) + top + scale
            change = (gains[fresh] - rows[fresh] @ mixed - s * prices[fresh]) / mass[fresh]
            log_u = log_u + change
            if np.abs(change).max() < 1e-13 * (1.0 + np.abs(log_u).max()):
                break
        return log_u

    def spent(s: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(logs_of(s)) @ prices[fresh])

    low, high = 0.0, 1.0 / float(prices[fresh].min())
    while spent(high) > 1.0:
        low, high = high, 4.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spent(middle) > 1.0 else (low, middle)
    slope = max(high, plain)
    shares = np.zeros(len(prices))
    shares[fresh] = spare * np.exp(logs_of(slope))
    if plain >= high:  # what is left goes to the best letter without new outputs
        ratio = np.where(fresh, -np.inf, gains / prices)
        best = int(np.argmax(ratio))
        shares[best] = max(spare - float(shares @ prices), 0.0) / prices[best]
    return slope, shares
