"""Hypothesis strategies for hostile laws: vanishing weights, coincident and far atoms."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from channelcode.measures import DiscreteMeasure, Gaussian

WEIGHTS = st.sampled_from([0.0, 1e-30, 1e-14, 1e-9, 1e-4, 0.1, 1.0, 1.0, 3.0])
exponents = st.integers(-400, 400)


@st.composite
def masses(draw: st.DrawFn, size: int) -> np.ndarray:
    """Weights from zero over 1e-30 to ordinary ones, at least one of them ordinary."""
    given = np.array(draw(st.lists(WEIGHTS, min_size=size, max_size=size)))
    given[draw(st.integers(0, size - 1))] = 1.0
    return given / given.sum()


@st.composite
def places(draw: st.DrawFn, size: int, dim: int) -> np.ndarray:
    """Points on a coarse grid, some nearly coincident, some far away."""
    whole = st.integers(-4, 4)
    grid = np.array(draw(st.lists(whole, min_size=size * dim, max_size=size * dim)), float)
    points = grid.reshape(size, dim)
    for i in range(size):
        kind = draw(st.sampled_from(["plain", "plain", "plain", "near", "far"]))
        if kind == "near" and i:
            step = 10.0 ** draw(st.integers(-14, -4))
            points[i] = points[i - 1] + step * points[i]
        elif kind == "far":
            points[i] *= 10.0 ** draw(st.integers(1, 8))
    return points


@st.composite
def line_laws(draw: st.DrawFn) -> DiscreteMeasure:
    """A hostile law on the line, at any scale."""
    size = draw(st.integers(1, 8))
    scale = 2.0 ** draw(exponents)
    return DiscreteMeasure(scale * draw(places(size, 1)), draw(masses(size)))


@st.composite
def discrete_laws(draw: st.DrawFn, dim: int, *, largest: int = 7) -> DiscreteMeasure:
    """A hostile law in R^dim, of ordinary scale."""
    size = draw(st.integers(1, largest))
    return DiscreteMeasure(draw(places(size, dim)), draw(masses(size)))


@st.composite
def gaussian_laws(draw: st.DrawFn, dim: int) -> Gaussian:
    """A Gaussian whose deviations may differ by many orders or vanish, axes turned or not."""
    powers = st.sampled_from([0.0, 1e-8, 1e-5, 1e-2, 1.0, 1.0, 30.0])
    deviation = np.array(draw(st.lists(powers, min_size=dim, max_size=dim)))
    turn = np.eye(dim)
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    covariance = turn @ np.diag(deviation**2) @ turn.T
    return Gaussian(np.zeros(dim), 0.5 * (covariance + covariance.T))
