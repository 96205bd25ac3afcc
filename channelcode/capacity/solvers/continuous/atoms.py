"""Operations on finite supports: gather neighbours, respect the budget, keep few atoms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import EPSILON, Problem
from channelcode.capacity.search.cheap import valleys

ROUNDING_STEPS = 14  # of a factor four each: atoms move by 1e-8 of their size at most


def gather(points: Array, weights: Array, spacing: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Merge atoms closer than `spacing` into their centre of mass, heaviest first."""
    order = np.argsort(-weights, kind="stable")
    flat = points.reshape(len(points), -1)
    reaches = spacing(points)
    taken = np.zeros(len(points), dtype=bool)
    centres, masses = [], []
    for j in order:
        if taken[j]:
            continue
        near = ~taken & (np.linalg.norm(flat - flat[j], axis=1) <= reaches[j])
        taken |= near
        total = float(weights[near].sum())
        centres.append(weights[near] @ flat[near] / total)
        masses.append(total)
    merged = np.array(centres).reshape(-1, *points.shape[1:])
    mass = np.array(masses)
    if points.ndim == 1:
        ranks = np.argsort(merged)
        merged, mass = merged[ranks], mass[ranks]
    return merged, mass / mass.sum()


def assign(points: Array, weights: Array, centres: Array, reaches: Array) -> tuple[Array, Array]:
    """Give each atom's mass to the nearest centre within its reach; the others stay as they are."""
    flat, goals = points.reshape(len(points), -1), centres.reshape(len(centres), -1)
    distance = np.linalg.norm(flat[:, None] - goals[None], axis=2)
    nearest = distance.argmin(axis=1)
    near = distance[np.arange(len(points)), nearest] <= reaches
    counted = np.bincount(nearest[near], weights=weights[near], minlength=len(centres))
    masses = np.asarray(counted, dtype=np.float64)
    keep = masses > 0
    return (
        np.concatenate([centres[keep], points[~near]]),
        np.concatenate([masses[keep], weights[~near]]),
    )


def merge_closest(points: Array, weights: Array) -> tuple[Array, Array] | None:
    """One atom fewer: the lightest, if it has next to no mass, else the closest two as one.

    None when no two atoms are near each other on the scale of the support.
    """
    if len(weights) < 2:
        return None
    lightest = int(np.argmin(weights))
    if weights[lightest] < 1e-9 * weights.max():
        keep = np.arange(len(weights)) != lightest
        return points[keep], weights[keep] / weights[keep].sum()
    flat = points.reshape(len(points), -1)
    distance = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    size = np.linalg.norm(flat, axis=1)
    distance = distance / (0.05 * size.max() + np.minimum(size[:, None], size))
    np.fill_diagonal(distance, np.inf)
    i, j = np.unravel_index(int(np.argmin(distance)), distance.shape)
    if distance[i, j] > 0.5:
        return None
    mass = weights[i] + weights[j]
    merged = points.copy()
    merged[i] = (weights[i] * points[i] + weights[j] * points[j]) / mass
    masses = weights.copy()
    masses[i] = mass
    keep = np.arange(len(weights)) != j
    return merged[keep], masses[keep]


def within_budget(
    problem: Problem, points: Array, weights: Array, multiplier: float
) -> tuple[Array, Array, float]:
    """Make the budget hold: scale the atoms (power), draw them in by rounding, or shift mass.

    With other costs, atoms that overspend by rounding alone are drawn towards zero where that is
    cheaper; if it is not, mass moves to the cheapest atom. Atoms at forbidden inputs are left out.
    A budget that is far from used is not active: its multiplier becomes zero.
    """
    limit = problem.limits
    if limit.cost is None:
        return points, weights, 0.0
    cost = problem.cost(points)
    allowed = cost < np.inf
    if not allowed.all() and weights[allowed].sum() > 0.0:
        points, cost, weights = points[allowed], cost[allowed], weights[allowed]
        weights = weights / weights.sum()
    spent = problem.mean_cost(points, weights)
    if spent <= limit.budget:
        idle = spent < limit.budget - 1e-3 * abs(limit.budget) and multiplier < 1e-13
        return points, weights, 0.0 if idle else multiplier
    if limit.is_power:
        return points * np.sqrt(limit.budget / spent), weights, multiplier
    for shrink in 1.0 - EPSILON * 4.0 ** np.arange(1, ROUNDING_STEPS):
        if problem.mean_cost(points * shrink, weights) <= limit.budget:
            return points * shrink, weights, multiplier
    if cost.min() > limit.budget:
        best = valleys(problem)[:1]  # no atom is within the budget: one at the least cost joins
        points, weights = np.concatenate([points, best]), np.append(weights, 0.0)
        cost = np.append(cost, problem.cost(best))
    cheapest = int(np.argmin(cost))
    if spent > cost[cheapest]:
        share = max(0.0, (limit.budget - cost[cheapest]) / (spent - cost[cheapest]))
        weights = weights * share
        weights[cheapest] += 1.0 - share
    return points, weights, multiplier
