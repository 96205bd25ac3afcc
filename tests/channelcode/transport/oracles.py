"""Independent answers: POT, exact fractions, adaptive quadrature, plain quasi-Monte Carlo."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import ot
from scipy import integrate, optimize, stats

from channelcode.measures import DiscreteMeasure, Gaussian


def emd_squared(mu: DiscreteMeasure, nu: DiscreteMeasure) -> float:
    """W2^2 of two discrete laws by POT's network simplex."""
    difference = mu.points[:, None, :] - nu.points[None, :, :]
    cost = np.ascontiguousarray((difference**2).sum(axis=2))
    solved: Any = ot.emd2(np.array(mu.weights), np.array(nu.weights), cost)
    return float(solved)


def line_quadrature(mean: float, variance: float, nu: DiscreteMeasure, p: float = 2.0) -> float:
    """W_p^p of N(mean, variance) and atoms on the line, by adaptive quadrature."""
    order = np.argsort(nu.atoms)
    below = np.minimum(np.concatenate(([0.0], np.cumsum(nu.weights[order]))), 1.0)
    cuts = stats.norm.ppf(below)
    cuts[0], cuts[-1] = -np.inf, np.inf
    deviation = np.sqrt(variance)
    total = 0.0
    for left, right, atom in zip(cuts[:-1], cuts[1:], nu.atoms[order]):
        low, high = max(left, -39.0), min(right, 39.0)
        middle = np.clip((atom - mean) / deviation, low, high)

        def integrand(z: float, atom: float = atom) -> float:
            return abs(mean + deviation * z - atom) ** p * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

        # The density is narrow against [-39, 39]: tell the rule where it lives.
        marks = sorted({low, high, middle, *np.clip([-6.0, -2.0, 0.0, 2.0, 6.0], low, high)})
        for a, b in pairwise(marks):
            with warnings.catch_warnings():
                # Rounding keeps it from its own tolerance; ours is wider.
                warnings.simplefilter("ignore", integrate.IntegrationWarning)
                total += integrate.quad(integrand, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0]
    return total


def gaussian_points(law: Gaussian, power: int, seed: int = 3) -> np.ndarray:
    """2^power scrambled Sobol points of a Gaussian, `(2^power, k)`."""
    engine = stats.qmc.Sobol(law.dim, scramble=True, rng=np.random.default_rng(seed))
    uniform = engine.random_base2(power)
    normal = stats.norm.ppf(np.clip(uniform, 1e-12, 1 - 1e-12))
    return np.atleast_1d(law.mean) + normal @ law.factor.T


def line_squared_exactly(mu: DiscreteMeasure, nu: DiscreteMeasure) -> Fraction:
    """W2^2 of two discrete laws on the line in exact fractions; the weights by their exact sums."""

    def parts(law: DiscreteMeasure) -> list[tuple[Fraction, Fraction]]:
        total = sum(map(Fraction, law.weights.tolist()))
        pairs = zip(law.atoms.tolist(), law.weights.tolist())
        return sorted((Fraction(y), Fraction(w) / total) for y, w in pairs if w > 0)

    left, right = parts(mu), parts(nu)
    total = Fraction(0)
    i = j = 0
    first, second = left[0][1], right[0][1]
    while i < len(left) and j < len(right):
        mass = min(first, second)
        total += mass * (left[i][0] - right[j][0]) ** 2
        first, second = first - mass, second - mass
        if first == 0:
            i += 1
            first = left[i][1] if i < len(left) else Fraction(0)
        if second == 0:
            j += 1
            second = right[j][1] if j < len(right) else Fraction(0)
    return total


def exact_cost(mu: DiscreteMeasure, nu: DiscreteMeasure, plan: Any) -> Fraction:
    """What a coupling near `plan` (rows, columns, masses) costs, without rounding: at least W2^2.

    Masses are divided by their exact sums. Entries go to the lightest atoms first, as far as either
    side has room, once with their masses and once with all that is left; the rest goes anywhere.
    """
    left, open_ = ([Fraction(w) / sum(map(Fraction, law.weights)) for w in law.weights]
                   for law in (mu, nu))  # fmt: skip
    order = sorted(zip(*plan, strict=True), key=lambda entry: nu.weights[entry[1]])
    pairs = [(i, j, Fraction(1)) for j in range(len(nu)) for i in range(len(mu))]
    cost = Fraction(0)
    for i, j, mass in [*order, *((i, j, 1.0) for i, j, _ in order), *pairs]:
        moved = min(left[i], open_[j], Fraction(mass))
        if moved > 0:
            away = (Fraction(x) - Fraction(y) for x, y in zip(mu.points[i], nu.points[j]))
            cost += moved * sum(step * step for step in away)
            left[i] -= moved
            open_[j] -= moved
    return cost


def exact_dual(mu: DiscreteMeasure, nu: DiscreteMeasure, v: Any) -> Fraction:
    """What potentials `(m,)` of <X, T> on the atoms of nu prove, without rounding: at most W2^2.

    Masses are divided by their exact sums.
    """
    x, y = ([list(map(Fraction, point)) for point in law.points.tolist()] for law in (mu, nu))
    masses, weights = (list(map(Fraction, law.weights.tolist())) for law in (mu, nu))
    level = list(map(Fraction, np.asarray(v, dtype=float).tolist()))
    squares = [sum(c * c for c in point) - 2 * of for point, of in zip(y, level, strict=True)]
    total = Fraction(0)
    for point, mass in zip(x, masses, strict=True):
        scores = (sum(a * b for a, b in zip(point, atom, strict=True)) for atom in y)
        best = max(score - of for score, of in zip(scores, level, strict=True))
        total += mass * (sum(c * c for c in point) - 2 * best)
    rest = sum((w * of for w, of in zip(weights, squares, strict=True)), Fraction(0))
    return total / sum(masses) + rest / sum(weights)


def plane_correlation(factor: np.ndarray, nu: DiscreteMeasure) -> float:
    """min_v E max_j(<F Z, y_j> - v_j) + w'v by quadrature and a general minimiser, to about 1e-9.

    Along one axis the maximum of lines is integrated exactly, each over its own interval; across
    it the trapezoid rule errs by its step, 0.01, to the fourth. Of many axes the one is taken from
    which all differences of two atoms stay farthest away, so that no edge is steep across it.
    """
    a = (nu.points - nu.mean) @ factor
    first, second = np.triu_indices(len(a), 1)
    apart = a[first] - a[second]
    apart /= np.hypot(*apart.T)[:, None]
    angles = np.linspace(0.0, np.pi, 181)
    axes = np.stack((np.cos(angles), np.sin(angles)), axis=-1)
    axis = axes[np.abs(axes @ apart.T).min(axis=1).argmax()]
    x, y = a @ axis, a @ np.array([-axis[1], axis[0]])
    across = np.linspace(-8.5, 8.5, 1701)
    density = np.exp(-0.5 * across**2)
    density /= density.sum()

    def dual(v: np.ndarray) -> tuple[float, np.ndarray]:
        height = across[:, None] * y - v
        left, right = np.full(height.shape, -np.inf), np.full(height.shape, np.inf)
        for k in range(len(v)):
            for j in range(len(v)):
                if x[k] != x[j]:
                    cut = (height[:, j] - height[:, k]) / (x[k] - x[j])
                    side, choose = (right, np.minimum) if x[k] > x[j] else (left, np.maximum)
                    side[:, j] = choose(side[:, j], cut)
        open_ = left < right
        mass = np.where(open_, stats.norm.cdf(right) - stats.norm.cdf(left), 0.0)
        moment = np.where(open_, stats.norm.pdf(left) - stats.norm.pdf(right), 0.0)
        value = density @ (moment @ x + (mass * height).sum(axis=1))
        return float(value + nu.weights @ v), nu.weights - density @ mass

    start = 0.5 * (a**2).sum(axis=1)
    found = optimize.minimize(dual, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    return float(found.fun)
