"""Hypothesis strategies for laws on coarse grids, where ties and collinear atoms are common."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from channelcode.measures import DiscreteMeasure, Empirical, Gaussian


@st.composite
def weights(draw: st.DrawFn, size: int, *, least: int = 1) -> np.ndarray:
    """Weights from small counts; `least=0` allows atoms without mass."""
    counts = np.array(draw(st.lists(st.integers(least, 6), min_size=size, max_size=size)), float)
    if counts.sum() == 0:
        counts[0] = 1.0
    return counts / counts.sum()


@st.composite
def points(draw: st.DrawFn, size: int, dim: int, *, steps: int = 6) -> np.ndarray:
    """Points on the grid of halves in [-steps/2, steps/2]^dim."""
    flat = draw(st.lists(st.integers(-steps, steps), min_size=size * dim, max_size=size * dim))
    return np.array(flat, float).reshape(size, dim) / 2


@st.composite
def targets(
    draw: st.DrawFn, dim: int, *, smallest: int = 1, largest: int = 6, least: int = 1
) -> DiscreteMeasure:
    """A discrete law with few atoms; on the line its atoms have no trailing axis."""
    size = draw(st.integers(smallest, largest))
    atoms = draw(points(size, dim))
    return DiscreteMeasure(atoms, draw(weights(size, least=least)))


@st.composite
def samples(draw: st.DrawFn, dim: int, *, largest: int = 30) -> Empirical:
    """A sample, equally weighted or not, on the grid or off it."""
    size = draw(st.integers(1, largest))
    place = draw(points(size, dim))
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        place = place + 0.3 * rng.standard_normal(place.shape)
    masses = draw(weights(size)) if draw(st.booleans()) else None
    return Empirical(place, masses)


@st.composite
def covariances(draw: st.DrawFn, dim: int, *, rank: int | None = None) -> np.ndarray:
    """F F' with a factor of random normal entries, columns scaled over four decades."""
    seed = draw(st.integers(0, 2**32 - 1))
    factor = np.random.default_rng(seed).standard_normal((dim, dim))
    exponents = draw(st.lists(st.integers(-2, 1), min_size=dim, max_size=dim))
    factor = factor * 10.0 ** np.array(exponents)
    if rank is not None:
        factor[:, rank:] = 0.0
    return factor @ factor.T


@st.composite
def gaussians(draw: st.DrawFn, dim: int) -> Gaussian:
    """A Gaussian with a mean on the grid."""
    mean = draw(points(1, dim))[0]
    return Gaussian(mean, draw(covariances(dim)))


@st.composite
def rotations(draw: st.DrawFn, dim: int) -> np.ndarray:
    """An orthogonal matrix."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return np.linalg.qr(rng.standard_normal((dim, dim)))[0]


def atoms_and_weights(rng: np.random.Generator, m: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    """A target of m centred atoms in R^r without light ones."""
    masses = rng.dirichlet(np.full(m, 3.0))
    places = rng.standard_normal((m, r))
    return places - masses @ places, masses
