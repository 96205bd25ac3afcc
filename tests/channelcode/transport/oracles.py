"""Independent answers: POT on the same points, adaptive quadrature, plain quasi-Monte Carlo."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import ot
from scipy import integrate, stats

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
    cuts = stats.norm.ppf(np.concatenate(([0.0], np.cumsum(nu.weights[order]))))
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
            total += integrate.quad(integrand, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0]
    return total


def gaussian_points(law: Gaussian, power: int, seed: int = 3) -> np.ndarray:
    """2^power scrambled Sobol points of a Gaussian, `(2^power, k)`."""
    engine = stats.qmc.Sobol(law.dim, scramble=True, rng=np.random.default_rng(seed))
    uniform = engine.random_base2(power)
    normal = stats.norm.ppf(np.clip(uniform, 1e-12, 1 - 1e-12))
    return np.atleast_1d(law.mean) + normal @ law.factor.T
