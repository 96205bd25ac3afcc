"""Hypothesis strategies: channels, input laws and stochastic matrices to draw in property tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from channelcode._validation import Array
from channelcode.channels import (
    BinaryErasure,
    BinarySymmetric,
    Binomial,
    Cauchit,
    Channel,
    Cloglog,
    DiscreteChannel,
    Features,
    Lapse,
    Logistic,
    Ordinal,
    Probit,
    QuantisedGaussian,
    Softmax,
    ZChannel,
)
from channelcode.errors import MissingExtra
from channelcode.measures import DiscreteMeasure, Empirical, Gaussian, Measure

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def _hypothesis() -> Any:
    try:
        import hypothesis.strategies as strategies
    except ImportError:
        raise MissingExtra("hypothesis", "dev") from None
    return strategies


def channels(*, dim: int | None = None, finite: bool | None = None) -> SearchStrategy[Channel]:
    """Channels of every family but `Link` and callable `Features`, with moderate parameters.

    `dim` keeps to channels of that input dimension, `finite` to those with (True) or without
    (False) a finite input alphabet.
    """
    st = _hypothesis()
    rate = st.floats(0.0, 0.4)
    scale = st.floats(0.1, 10.0)
    cuts = st.lists(st.integers(-12, 12), min_size=1, max_size=5, unique=True).map(
        lambda ticks: [0.5 * tick for tick in sorted(ticks)]
    )
    links = st.one_of(
        st.just(Logistic()), st.builds(Probit, scale), st.just(Cauchit()), st.just(Cloglog())
    )
    line = st.one_of(
        links,
        st.builds(lambda c, a, b: Lapse(c, low=a, high=b), links, rate, rate),
        st.builds(Ordinal, cuts, links),
        st.builds(Binomial, st.integers(1, 6), links),
        st.builds(QuantisedGaussian, cuts, scale),
        st.builds(lambda c, a: Features(c, [[a]]), links, st.floats(-3.0, 3.0)),
    )
    finite_ones = st.one_of(
        st.builds(BinarySymmetric, st.floats(0.0, 1.0)),
        st.builds(BinaryErasure, st.floats(0.0, 1.0)),
        st.builds(ZChannel, st.floats(0.0, 1.0)),
        stochastic_matrices().map(DiscreteChannel),
    )
    if dim not in (None, 1):
        return st.just(Softmax(dim))
    choices = [] if finite else [line]
    if dim is None and not finite:
        choices.append(st.builds(Softmax, st.integers(2, 5)))
    if finite is not False:
        choices.append(finite_ones)
    return st.one_of(choices)


def gaussians(
    *, dim: int = 1, largest_mean: float = 20.0, sigma: tuple[float, float] = (1e-3, 30.0)
) -> SearchStrategy[Gaussian]:
    """Gaussian laws on R^dim with standard deviations (along axes, before turning) in `sigma`."""
    st = _hypothesis()
    exponents = st.floats(float(np.log(sigma[0])), float(np.log(sigma[1])))
    means = st.lists(st.floats(-largest_mean, largest_mean), min_size=dim, max_size=dim)
    spreads = st.lists(exponents, min_size=dim, max_size=dim)

    def build(mean: list[float], spread: list[float], seed: int) -> Gaussian:
        if dim == 1:
            return Gaussian(mean[0], float(np.exp(2.0 * spread[0])))
        turn, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
        covariance = (turn * np.exp(2.0 * np.array(spread))) @ turn.T
        return Gaussian(mean, 0.5 * (covariance + covariance.T))

    return st.builds(build, means, spreads, st.integers(0, 2**31 - 1))


def measures(*, dim: int = 1, largest: float = 20.0) -> SearchStrategy[Measure]:
    """Discrete, empirical and Gaussian laws on R^dim with points of size up to `largest`."""
    st = _hypothesis()
    point = st.lists(st.floats(-largest, largest), min_size=dim, max_size=dim)
    points = st.lists(point, min_size=1, max_size=6).map(np.array)

    def weighted(atoms: Array, seed: int) -> DiscreteMeasure:
        weights = np.random.default_rng(seed).dirichlet(np.ones(len(atoms)))
        return DiscreteMeasure(atoms, weights)

    return st.one_of(
        st.builds(weighted, points, st.integers(0, 2**31 - 1)),
        points.map(Empirical),
        gaussians(dim=dim, largest_mean=largest),
    )


def stochastic_matrices(*, most_inputs: int = 5, most_outputs: int = 5) -> SearchStrategy[Array]:
    """Matrices whose rows are laws, `(n, |Y|)`, some with entries of zero and of one."""
    st = _hypothesis()

    def build(n: int, outputs: int, seed: int, sparse: bool) -> Array:
        rng = np.random.default_rng(seed)
        rows = rng.dirichlet(np.ones(outputs), size=n)
        if sparse:
            rows = rows * (rng.random((n, outputs)) < 0.5)
            rows[np.arange(n), rng.integers(outputs, size=n)] += 0.5
        return rows / rows.sum(axis=1, keepdims=True)

    return st.builds(
        build,
        st.integers(1, most_inputs),
        st.integers(2, most_outputs),
        st.integers(0, 2**31 - 1),
        st.booleans(),
    )
