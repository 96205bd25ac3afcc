"""Batches: the belief after a pick whose label is not known yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm._inputs import Matrix
from apm.belief import Belief
from apm.posteriors.base import Posterior
from apm.posteriors.gaussian import ScalarGaussian
from channelcode._validation import Array, Seed, as_generator
from channelcode.channels import Channel
from channelcode.measures import FullPool, Gaussian, Measure, Pool

REACH, NODES = 8.0, 4001  # a trapezoid rule in deviations; resolves slopes up to sigma = 100
DRAWS = 512  # in several dimensions the expected precision needs two digits, not ten


def condition(belief: Belief, x: Any, *, rng: Seed = None) -> Belief:
    """The belief after asking x, before its label: the mean stays, the covariance shrinks.

    `Sigma^-1 <- Sigma^-1 + A' W A` with l = A theta the channel input of x and
    `W = E[-sum_y p(y|L) d^2 ln p(y|L)]` the expected precision of the label (Fisher information
    averaged over the induced law). A batch then looks for what its own picks will leave unknown.
    Posteriors known only by samples are returned unchanged: their batches are the n best.
    """
    features = np.asarray(belief.encoder.encode(np.asarray(x)[None, :]), dtype=np.float64)
    posterior = belief.posterior.sized(features.shape[1])
    law = posterior.pool(posterior.project(features))[0]
    if not isinstance(law, Gaussian):
        return belief
    row = np.append(features[0], 1.0) if posterior.intercept else features[0]
    weight = expected_precision(belief.channel, law, rng=rng)
    if isinstance(posterior, ScalarGaussian):
        shrunk: Posterior = ScalarConditioned(posterior, row, float(weight))
    else:
        shrunk = VectorConditioned(posterior, row, np.asarray(weight))
    return Belief(shrunk, belief.encoder, belief.channel)


def expected_precision(channel: Channel, law: Measure, *, rng: Seed = None) -> Any:
    """E[-sum_y p(y|L) d^2 ln p(y|L) / dl^2] over the law: a float on the line, `(k, k)` in R^k.

    >>> from channelcode import Gaussian, Logistic
    >>> float(expected_precision(Logistic(), Gaussian(0.0, 0.0)))
    0.25
    """
    if law.dim == 1:
        z = np.linspace(-REACH, REACH, NODES)
        weights = np.exp(-0.5 * z**2)
        weights /= weights.sum()
        l: Array = law.mean + np.sqrt(law.covariance) * z
    else:
        weights = np.full(DRAWS, 1.0 / DRAWS)
        l = law.sample(DRAWS, rng=as_generator(rng))
    probability = channel.prob(l)
    hessian = channel.derivatives(l).hessian
    if law.dim == 1:
        fisher = -np.where(probability > 0, probability * hessian, 0.0).sum(axis=1)
        return max(float(weights @ fisher), 0.0)  # numerical derivatives may round below zero
    fisher = -np.einsum("sy,syij->sij", probability, hessian)
    return np.einsum("s,sij->ij", weights, fisher)


class ScalarConditioned(ScalarGaussian):
    """A scalar posterior whose factor F lost part of the direction v = F'x / |F'x|.

    `F <- F - (1 - 1 / sqrt(1 + w s)) F v v'` with s = |F'x|^2 gives the covariance
    `Sigma - Sigma x x' Sigma w / (1 + w s)`, without a difference that could turn negative.
    """

    __slots__ = ("_base", "_factor")
    _base: Posterior
    _factor: Array

    def __init__(self, base: ScalarGaussian, row: Array, weight: float) -> None:
        _copy_data(self, base)
        factor = np.asarray(base.factor)
        along = factor.T @ row
        variance = float(along @ along)
        if variance > 0:
            lost = (1 - 1 / np.sqrt(1 + weight * variance)) / variance
            factor = factor - lost * np.outer(factor @ along, along)
        self._set(_base=base, _factor=factor)

    @property
    def factor(self) -> Array:
        return self._factor

    @property
    def num_labels(self) -> int:
        return self._base.num_labels

    @property
    def channel(self) -> Any:
        return self._base.channel

    @property
    def mean(self) -> Array:
        return self._base.mean

    @property
    def map(self) -> Array:
        return self._base.map

    def _solve(self, start: Posterior | None) -> Any:
        return self._base._solution

    def _solution_state(self) -> dict[str, np.ndarray]:
        return self._base._solution_state()

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Any:
        return self._base._restore_solution(state)


class VectorConditioned(Posterior):
    """A posterior in R^k whose covariance is the former one less U U', U of shape `(k q, k)`.

    With S = A Sigma A' and R = W^(1/2), `U = Sigma A' R (I + R S R)^(-1/2)`.
    """

    __slots__ = ("_base", "_lost")
    _base: Posterior
    _lost: Array

    def __init__(self, base: Posterior, row: Array, weight: Array) -> None:
        _copy_data(self, base)
        classes, count = np.asarray(base.mean).shape
        covariance = np.asarray(base.covariance).reshape(classes, count, classes, count)
        across = np.einsum("kqlr,r->kql", covariance, row).reshape(classes * count, classes)
        spread = np.einsum("kql,q->kl", across.reshape(classes, count, classes), row)
        root = _power(weight, 0.5)
        inner = _power(np.eye(classes) + root @ spread @ root, -0.5)
        self._set(_base=base, _lost=across @ root @ inner)

    @property
    def num_labels(self) -> int:
        return self._base.num_labels

    @property
    def dim(self) -> int:
        return self._base.dim

    @property
    def channel(self) -> Any:
        return self._base.channel

    @property
    def mean(self) -> Array:
        return self._base.mean

    @property
    def map(self) -> Array:
        return self._base.map

    @property
    def covariance(self) -> Array:
        if "covariance" not in self._cache:
            self._cache["covariance"] = (
                np.asarray(self._base.covariance) - self._lost @ self._lost.T
            )
        return self._cache["covariance"]

    @property
    def summed_covariance(self) -> Array:
        classes, count = np.asarray(self.mean).shape
        lost = self._lost.reshape(classes, count, classes)
        return self._base.summed_covariance - np.einsum("kqi,kri->qr", lost, lost)

    def project(self, features: Matrix) -> tuple[Array, ...]:
        laws = self._base.pool(self._base.project(features))
        classes, count = np.asarray(self.mean).shape
        lost = self._lost.reshape(classes, count, classes)
        across = np.einsum("nq,kqi->nki", features, lost[:, : features.shape[1]])
        if self.intercept:
            across = across + lost[:, -1]
        spread = np.asarray(getattr(laws, "covariance"))  # noqa: B009 (only Gaussian pools get here)
        return np.asarray(laws.mean), spread - across @ across.transpose(0, 2, 1)

    def pool(self, arrays: tuple[Array, ...]) -> Pool:
        return FullPool(*arrays)

    def _solve(self, start: Posterior | None) -> Any:
        return self._base._solution

    def _solution_state(self) -> dict[str, np.ndarray]:
        return self._base._solution_state()

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Any:
        return self._base._restore_solution(state)


def _copy_data(new: Posterior, base: Posterior) -> None:
    """Give `new` the data and the options of `base`, with a cache of its own."""
    new._set(**{name: getattr(base, name) for name in Posterior.__slots__})
    new._set(_cache={})


def _power(matrix: Array, exponent: float) -> Array:
    """A power of a symmetric positive semidefinite matrix; rounding below zero counts as zero."""
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 0.0) ** exponent
    return (vectors * values) @ vectors.T
