"""A law with finitely many atoms, the form of every capacity-achieving input here."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import (
    Array,
    Seed,
    as_generator,
    distribution,
    non_negative,
    read_only,
)
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Measure, affine_map, points_of, sizes, squeeze_line


class DiscreteMeasure(Measure):
    """Finitely many weighted atoms, p = sum_j w_j delta(l - y_j).

    `atoms` has shape `(m,)` on the line and `(m, k)` in R^k; `weights` has shape `(m,)`.
    The law B_t of Prop. 2.1 puts half its mass at each of -t and t:

    >>> binary = DiscreteMeasure([-2.0, 2.0], [0.5, 0.5])
    >>> binary.mean, binary.second_moment
    (0.0, 4.0)
    """

    __slots__ = ("_points", "_weights")
    _points: Array
    _weights: Array

    def __init__(self, atoms: ArrayLike, weights: ArrayLike) -> None:
        points = points_of("atoms", atoms)
        masses = distribution("weights", weights, ndim=1)
        if masses.shape[0] != points.shape[0]:
            raise InvalidArgument(
                "weights",
                f"must have one entry for each of {points.shape[0]} atoms",
                masses.shape[0],
            )
        self._set(_points=read_only(points), _weights=read_only(masses))

    @classmethod
    def uniform(cls, atoms: ArrayLike) -> Self:
        """Equal weights on the given atoms."""
        points = points_of("atoms", atoms)
        return cls(points, np.full(points.shape[0], 1.0 / points.shape[0]))

    @classmethod
    def symmetric(cls, radius: float) -> Self:
        """The law B_t of Prop. 2.1: half the mass at -radius, half at radius."""
        t = non_negative("radius", radius)
        return cls([-t, t], [0.5, 0.5])

    @property
    def points(self) -> Array:
        """The atoms as `(m, dim)`, whatever the dimension."""
        return self._points

    @property
    def atoms(self) -> Array:
        """The atoms: `(m,)` on the line, `(m, k)` in R^k."""
        return squeeze_line(self._points, self.dim)

    @property
    def weights(self) -> Array:
        """The masses of the atoms, `(m,)`."""
        return self._weights

    @property
    def dim(self) -> int:
        return self._points.shape[1]

    @property
    def mean(self) -> Any:
        return squeeze_line(self._weights @ self._points, self.dim)

    @property
    def covariance(self) -> Any:
        centred = self._points - self._weights @ self._points
        return squeeze_line((centred.T * self._weights) @ centred, self.dim, 2)

    @property
    def second_moment(self) -> float:
        return float(self._weights @ (self._points**2).sum(axis=1))

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Seed = None) -> Array:
        index = as_generator(rng).choice(len(self._weights), size=sizes(size), p=self._weights)
        return squeeze_line(self._points[index], self.dim)

    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> DiscreteMeasure:
        linear, shift = affine_map(self.dim, matrix, offset)
        return DiscreteMeasure(self._points @ linear.T + shift, self._weights)

    def simplify(self, *, atol: float = 0.0) -> DiscreteMeasure:
        """Merge atoms closer than `atol` to their centre of mass and drop atoms without mass.

        Atoms come out sorted (lexicographically in R^k); the total mass is unchanged.
        """
        tolerance = non_negative("atol", atol)
        order = np.lexsort(self._points.T[::-1])
        groups: list[tuple[Array, float]] = []
        for j in order:
            point, weight = self._points[j], float(self._weights[j])
            if weight == 0:
                continue
            for g, (centre, mass) in enumerate(groups):
                if np.linalg.norm(centre - point) <= tolerance:
                    total = mass + weight
                    groups[g] = (centre + (point - centre) * (weight / total), total)
                    break
            else:
                groups.append((point, weight))
        return DiscreteMeasure(np.array([c for c, _ in groups]), np.array([m for _, m in groups]))

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        shown = np.array2string(self.atoms, precision=6, threshold=12, separator=", ")
        mass = np.array2string(self._weights, precision=6, threshold=12, separator=", ")
        return f"DiscreteMeasure(atoms={shown}, weights={mass})"
