"""The Gaussian of a posterior expanded at one point, in units of the prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array, read_only

WELL_DETERMINED = 1e5  # |G|^2 up to which forming G'G loses less than 1e-10 of any covariance


class Factor(NamedTuple):
    """(I + G'G)^-1 from I + G'G = L L': `factor` L `(q, q)`, lower triangular."""

    factor: Array

    @classmethod
    def of(cls, rows: Array) -> Factor:
        """From the rows G `(m, q)` of the labels."""
        form = rows.T @ rows
        form.flat[:: len(form) + 1] += 1.0
        return cls(read_only(np.linalg.cholesky(form)))

    @property
    def log_shrink(self) -> float:
        """-ln det(I + G'G) / 2."""
        return -float(np.log(np.diagonal(self.factor)).sum())

    def image(self, slopes: Array) -> Array:
        """A L^-T for slopes A `(..., q)`: inner products of images are covariances."""
        from scipy.linalg import solve_triangular

        flat = slopes.reshape(-1, slopes.shape[-1])
        found = solve_triangular(self.factor, flat.T, lower=True, check_finite=False)
        return found.T.reshape(slopes.shape)

    def draw(self, noise: Array) -> Array:
        """L^-T z for z `(..., q)`."""
        from scipy.linalg import solve_triangular

        flat = noise.reshape(-1, noise.shape[-1])
        found = solve_triangular(self.factor, flat.T, lower=True, trans=1, check_finite=False)
        return found.T.reshape(noise.shape)

    def solve(self, v: Array) -> Array:
        """(I + G'G)^-1 v for v `(q,)`."""
        return self.draw(self.image(v))

    def arrays(self) -> dict[str, Array]:
        """As a file holds it."""
        return {"factor": self.factor}


class Spread(NamedTuple):
    """(I + G'G)^-1 = I - V (1 - d^2) V': `basis` V `(q, r)` orthonormal, `shrink` d `(r,)`."""

    basis: Array
    shrink: Array

    @classmethod
    def of(cls, rows: Array) -> Spread:
        """From the rows G `(m, q)` of the labels."""
        if len(rows) == 0:
            return cls(read_only(np.empty((rows.shape[1], 0))), read_only(np.empty(0)))
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        return cls(read_only(basis.T), read_only(1.0 / np.sqrt(1.0 + sizes**2)))

    @property
    def log_shrink(self) -> float:
        """-ln det(I + G'G) / 2."""
        return float(np.log(self.shrink).sum())

    def solve(self, v: Array) -> Array:
        """(I + G'G)^-1 v for v `(q,)`."""
        return v - self.basis @ ((1.0 - self.shrink**2) * (self.basis.T @ v))

    def arrays(self) -> dict[str, Array]:
        """As a file holds it."""
        return {"basis": self.basis, "shrink": self.shrink}

    def image(self, slopes: Array) -> Array:
        """A (I + G'G)^-1/2 for slopes A `(..., q)`, up to a rotation: `(..., r)` or `(..., q + r)`.

        Inner products of images are covariances; nothing cancels where labels say much.
        """
        along = slopes @ self.basis
        kept = along * self.shrink
        if len(self.shrink) == len(self.basis):
            return kept
        return np.concatenate((slopes - along @ self.basis.T, kept), axis=-1)

    def draw(self, noise: Array) -> Array:
        """(I + G'G)^-1/2 z for z `(..., q)`."""
        return noise - ((noise @ self.basis) * (1.0 - self.shrink)) @ self.basis.T


def spread_of(rows: Array) -> Spread | Factor:
    """(I + G'G)^-1 for rows G `(m, q)`: by a factor where that is exact enough, else in the span.

    With few rows, or with labels that determine some direction far beyond the prior, the singular
    vectors of G keep every digit.
    """
    m, q = rows.shape
    if 2 * m < q or not float(np.einsum("mq,mq->", rows, rows)) < WELL_DETERMINED:
        return Spread.of(rows)
    return Factor.of(rows)


def spread_from(state: dict[str, Array]) -> Spread | Factor:
    """What `arrays` gave."""
    if "factor" in state:
        return Factor(read_only(state["factor"]))
    return Spread(read_only(state["basis"]), read_only(state["shrink"]))


class Expansion(NamedTuple):
    """Where the posterior was expanded, and what it is there.

    `u` `(q,)` in units of the prior, the gradient of -ln p `(q,)` in theta, the distance from the
    maximum in posterior deviations, ln p(labels) by Laplace's formula, draws `(s, q)` or None.
    """

    u: Array
    gradient: Array
    decrement: float
    log_evidence: float
    spread: Spread | Factor
    steps: int
    draws: Array | None

    @classmethod
    def of(cls, state: dict[str, Array]) -> Expansion:
        """What `arrays` gave."""
        decrement, evidence, steps = (float(value) for value in state["figures"])
        draws = read_only(state["draws"]) if "draws" in state else None
        u, gradient = read_only(state["u"]), read_only(state["gradient"])
        return cls(u, gradient, decrement, evidence, spread_from(state), int(steps), draws)

    def arrays(self) -> dict[str, Array]:
        """As a file holds it."""
        state = {
            "u": self.u,
            "gradient": self.gradient,
            "figures": np.array([self.decrement, self.log_evidence, self.steps]),
            **self.spread.arrays(),
        }
        return state if self.draws is None else state | {"draws": self.draws}
