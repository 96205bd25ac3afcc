"""Batches: the belief after a pick whose label is not known yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.belief import Belief
from apm.pools.inputs import as_dense, as_row
from apm.posteriors import (
    BlockCovariance,
    Bohning,
    Covariance,
    DiagonalCovariance,
    KroneckerCovariance,
    Posterior,
    Sampled,
    WeightedSamples,
)
from apm.posteriors.covariances.feature_covariance import FeatureCovariance
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import AdditiveGaussian, Channel
from channelcode.measures import DiscreteMeasure, Measure

REACH, NODES = 8.0, 4001  # a trapezoid rule in deviations; resolves slopes up to sigma = 100
DRAWS = 512  # in several dimensions the expected precision needs two digits, not ten
BOHNING = 0.5  # its bound gives every label the same precision (I - 11'/K) / 2


def condition(belief: Belief, x: Any, *, rng: Seed = None) -> Belief:
    """The belief after asking x, before its label: the mean stays, the covariance shrinks.

    `Sigma^-1 <- Sigma^-1 + A' W A` with l = A theta the channel input of x and
    `W = E[-sum_y p(y|L) d^2 ln p(y|L)]` the expected precision of the label (Fisher information
    averaged over the induced law). A batch then looks for what its own picks will leave unknown.

    The structure of the covariance is kept: a Kronecker covariance takes the precision that all
    classes share, a diagonal one its diagonal, and posterior draws move so that their covariance
    is the one above; weighted samples of l move likewise (`Posterior.after_asking`), and what was
    asked is remembered for the rules that can tell what another label would add
    (`InformationGain`). A posterior of a kind unknown here is left as it is.
    """
    features = as_dense(belief.encoder.encode(as_row(x))).astype(np.float64)
    posterior = belief.posterior.sized(features.shape[1])
    if isinstance(posterior, WeightedSamples) and not belief.channel.same_units:
        return belief.after(posterior.awaiting(features))  # nothing that could shrink alike
    law = posterior.pool(posterior.project(features))[0]
    row = np.append(features[0], 1.0) if posterior.intercept else features[0]
    weight = expected_precision(belief.channel, law, rng=rng)
    asked = posterior.after_asking(features, weight)
    if asked is not None:
        return Belief(asked, belief.encoder, belief.channel)
    return Belief(_shrunk(posterior, row, weight), belief.encoder, belief.channel)


def expected_precision(channel: Channel, law: Measure, *, rng: Seed = None) -> Any:
    """E[-sum_y p(y|L) d^2 ln p(y|L) / dl^2] over the law: a float on the line, `(k, k)` in R^k.

    >>> from channelcode import Gaussian, Logistic
    >>> expected_precision(Logistic(), Gaussian(0.0, 0.0))
    0.25
    """
    if type(channel) is AdditiveGaussian:
        return 1.0 / channel.noise**2
    l: Array
    if isinstance(law, DiscreteMeasure):
        l, weights = law.atoms, law.weights
    elif law.dim == 1:
        z = np.linspace(-REACH, REACH, NODES)
        weights = np.exp(-0.5 * z**2)
        weights /= weights.sum()
        l = law.mean + np.sqrt(law.covariance) * z
    else:
        weights = np.full(DRAWS, 1.0 / DRAWS)
        l = law.sample(DRAWS, rng=as_generator(rng))
    probability = channel.prob(l)
    hessian = channel.derivatives(l).hessian
    if law.dim == 1:
        fisher = -np.where(probability > 0, probability * hessian, 0.0).sum(axis=1)
        return max(float(weights @ fisher), 0.0)  # numerical derivatives may round below zero
    return -np.einsum("s,sy,syij->ij", weights, probability, hessian)


def _shrunk(posterior: Posterior, row: Array, weight: Any) -> Posterior:
    """The posterior with the covariance that one more label of this precision will leave."""
    solution = posterior._solution
    parts = getattr(solution, "_fields", ())
    change: dict[str, Any]
    if isinstance(posterior, ScalarGaussian) and "factor" in parts:
        held = solution.factor
        wide = isinstance(held, FeatureCovariance)
        after = held.shrunk(row, weight)[0] if wide else shrunk_factor(held, row, weight)
        change = {"factor": after}
    elif isinstance(posterior, Sampled):
        change = {"samples": _moved(posterior, row, weight)}
    elif "covariance" in parts and isinstance(solution.covariance, Covariance):
        covariance = solution.covariance
        if isinstance(posterior, Bohning) and isinstance(covariance, KroneckerCovariance):
            weight = BOHNING * covariance.outer  # A = A^+ = I - 11'/K
        change = {"covariance": _shrunk_covariance(covariance, row, weight)}
    else:
        return posterior
    return posterior._evolve(_solution=solution._replace(**change))


def shrunk_factor(factor: Array, row: Array, weight: float) -> Array:
    """F' of `Sigma - Sigma x x' Sigma w / (1 + w s)`, s = x'Sigma x, from F with F F' = Sigma.

    `F - (1 - 1 / sqrt(1 + w s)) F v v'` with v = F'x / |F'x|: nothing that could turn negative.

    >>> shrunk_factor(np.eye(2), np.array([1.0, 0.0]), 3.0).round(6).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    along = factor.T @ row
    variance = float(along @ along)
    if variance == 0:
        return factor
    lost = (1 - 1 / np.sqrt(1 + weight * variance)) / variance
    return factor - lost * np.outer(factor @ along, along)


def _moved(posterior: Sampled, row: Array, weight: float) -> Array:
    """Draws whose covariance has shrunk as that of a Gaussian would, about the same mean."""
    deviations = posterior.samples - posterior.mean
    inputs = deviations @ row
    variance = float(inputs @ inputs) / len(inputs)
    if variance == 0:
        return posterior.samples
    gain = (1 - 1 / np.sqrt(1 + weight * variance)) / variance
    return posterior.samples - gain * np.outer(inputs, posterior.covariance @ row)


def _shrunk_covariance(covariance: Covariance, row: Array, weight: Array) -> Covariance:
    if isinstance(covariance, KroneckerCovariance):
        # W ~ w A^+, so that A^+ (x) B^-1 grows by w A^+ (x) x x': w is the mean over directions
        outer = covariance.outer
        shared = float(np.trace(weight @ outer)) / np.linalg.matrix_rank(outer)
        return KroneckerCovariance(outer, covariance.features.shrunk(row, shared)[0])
    if isinstance(covariance, DiagonalCovariance):
        own = np.maximum(np.diag(weight), 0.0)[:, None] * row**2
        return DiagonalCovariance(1 / (1 / covariance.variances + own), covariance.centre)
    classes = len(weight)
    matrix = np.asarray(covariance)
    count = len(matrix) // classes
    across = matrix.reshape(-1, classes, count) @ row  # Sigma A'
    spread = np.einsum("kql,q->kl", across.reshape(classes, count, classes), row)
    root = _power(weight, 0.5)
    lost = across @ root @ _power(np.eye(classes) + root @ spread @ root, -0.5)
    return BlockCovariance(matrix - lost @ lost.T, classes)


def _power(matrix: Array, exponent: float) -> Array:
    """A power of a symmetric positive semidefinite matrix; rounding below zero counts as zero."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0.0) ** exponent) @ vectors.T
