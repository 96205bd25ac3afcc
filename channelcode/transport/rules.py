"""Quasi-Monte Carlo rules for Gaussians: scrambled Sobol points and spread directions."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ndtri, stdtrit

from channelcode._validation import Array

POINTS = 128  # in each replicate of the default rule, which pools share
REPLICATES = 8
PLAIN_DIM = 4  # from here on many points are better than few nodes with one exact coordinate
PLAIN_POINTS = 2  # for each node that a solver has,
JUDGE_POINTS = 4  # and a judge
POINTS_PER_ATOM = 16  # at least
# Standard errors of plain points: 4 of 1,140 products were missed without, by up to a sixth.
PLAIN_WIDENED = 1.5
DIRECTIONS = 64
COVERAGE = 0.999
WIDENED = 1.25  # beyond Student's t: means of few points in many dimensions are not quite normal


@cache
def normal_nodes(dim: int, points: int, replicates: int, seed: int) -> Array:
    """Scrambled Sobol points mapped to N(0, I), `(replicates * points, dim)`.

    Each replicate is an independent scramble: half of `points` (a power of two) from the engine,
    the other half their mirror images. All are then scaled so that the covariance of the whole is
    the identity, so that the mean over the replicates is exact for polynomials up to degree three.
    (Scaled one by one, few points in many dimensions would have a bias of two standard errors.)
    """
    from scipy.stats import qmc

    streams = np.random.SeedSequence(seed).spawn(replicates)
    size = max(points // 2, 1)
    rules = np.empty((replicates, 2 * size, dim))
    for rule, stream in zip(rules, streams):
        engine = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(stream))
        # The scramble's lattice holds zero, which is no probability.
        rule[:size] = ndtri(np.clip(engine.random(size), 2.0**-40, 1 - 2.0**-40))
    drawn = rules[:, :size].reshape(-1, dim)
    if len(drawn) > 2 * dim:
        spread = np.linalg.cholesky(drawn.T @ drawn / len(drawn))
        drawn = np.linalg.solve(spread, drawn.T).T
    rules[:, :size] = drawn.reshape(replicates, size, dim)
    rules[:, size:] = -rules[:, :size]
    return rules.reshape(-1, dim)


@cache
def normal_columns(dim: int, points: int, replicates: int, seed: int) -> Array:
    """The rule of `normal_nodes`, one point in each column, `(dim, replicates * points)`."""
    return np.ascontiguousarray(normal_nodes(dim, points, replicates, seed).T)


def suits_points(atoms: int, dim: int, count: int) -> bool:
    """Whether that many atoms in so many dimensions are for `count` points without more."""
    return dim >= PLAIN_DIM and 1 < atoms <= count // POINTS_PER_ATOM


@cache
def directions_in(dim: int) -> Array:
    """Unit vectors spread over the half sphere, the axes among them, `(DIRECTIONS + dim, dim)`."""
    drawn = np.random.default_rng(20).standard_normal((DIRECTIONS, dim))
    both = np.concatenate((np.eye(dim), drawn))
    return np.ascontiguousarray(both / np.linalg.norm(both, axis=1, keepdims=True))


def coverage_factor(replicates: int) -> float:
    """How many standard errors make a two-sided interval of probability `COVERAGE` and more."""
    return WIDENED * float(stdtrit(replicates - 1, 0.5 * (1 + COVERAGE)))


def upper_quantiles(weights: Array) -> Array:
    """z with P(X > z) = w for each weight (at most a half), X ~ N(0, 1)."""
    return -ndtri(np.minimum(weights, 0.5))
