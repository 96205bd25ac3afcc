"""A covariance over features, kept as a factor in the span of the examples seen.

    M = D (I + B'(F F' - I) B) D

with D the prior deviations `(q,)`, B `(r, q)` an orthonormal basis of the whitened examples and F
`(r, r)`. Outside the span of the examples M is the prior, so r is at most the number of labels. B
is None where r = q and F itself is the factor of D^-1 M D^-1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.pools.inputs import is_sparse
from apm.posteriors.covariances.products import times, weighted_products, weighted_squares
from apm.posteriors.covariances.remembered import Remembered
from channelcode._validation import Array, read_only
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Immutable

WIDE = 128  # features from which the span is worth its bookkeeping
LARGEST_DENSE = 1 << 27  # entries of a matrix that is formed on request: a gibibyte
NEAR = 1e-6  # of a row's square: less of it outside the span is recomputed without cancellation
DEPENDENT = 1e-13  # a row this close to the span of the others, relative to its norm, lies in it
PIECE = 1 << 20  # entries of a temporary


class RankOne:
    """What one label did to a covariance: `M - shrink image image'`.

    `along(features)` is x' image `(n,)`; a pool's forms follow without the matrix: x'Mx falls by
    `shrink along^2`, x'Mx* by `shrink along along*`.
    """

    __slots__ = ("image", "shrink")

    def __init__(self, image: Array, shrink: float) -> None:
        self.image, self.shrink = read_only(image), shrink

    def along(self, features: Any) -> Any:
        """x' image for features `(n, p)`, shape `(n,)`."""
        return times(features, self.image[:, None])[:, 0]


class FeatureCovariance(Immutable):
    """The covariance M `(q, q)` of one class's weights; `np.asarray` makes the matrix.

    >>> prior = FeatureCovariance.prior(np.array([4.0, 4.0]))
    >>> after, change = prior.shrunk(np.array([2.0, 0.0]), 3.0)
    >>> after.dense().round(4).tolist()
    [[0.0625, 0.0], [0.0, 0.25]]
    """

    __slots__ = ("_basis", "_deviation", "_factor", "_pools")
    _deviation: Array
    _basis: Array | None
    _factor: Array
    _pools: Remembered  # of sparse ones: B D x, |D x|^2 and x'D D x*

    def __init__(self, deviation: Array, factor: Array, basis: Array | None = None) -> None:
        self._set(
            _pools=Remembered(),
            _deviation=read_only(deviation),
            _factor=read_only(factor),
            _basis=None if basis is None else read_only(basis),
        )

    @classmethod
    def prior(cls, precision: Array) -> FeatureCovariance:
        """diag(1 / precision)."""
        q = len(precision)
        deviation = 1.0 / np.sqrt(precision)
        if q >= WIDE:
            return cls(deviation, np.empty((0, 0)), np.empty((0, q)))
        return cls(deviation, np.eye(q))

    @classmethod
    def whole(
        cls, design: Array, precision: Array, weights: Array
    ) -> tuple[FeatureCovariance, Array]:
        """(diag(precision) + sum_i w_i x_i x_i')^-1, and the rows in its coordinates `(n, r)`."""
        prior = cls.prior(precision)
        if len(design) == 0:
            return prior, np.empty((0, len(prior._factor)))
        Z = np.ascontiguousarray(design * prior._deviation)
        basis = None
        if prior._basis is not None and len(Z) < Z.shape[1]:
            basis, Z = orthonormal_rows(Z)
        rank = Z.shape[1]
        stacked = np.concatenate((np.sqrt(weights)[:, None] * Z, np.eye(rank)))
        upper = np.linalg.qr(stacked, mode="r")
        from scipy.linalg import solve_triangular

        factor = solve_triangular(upper, np.eye(rank), check_finite=False)
        return cls(prior._deviation, factor, basis), Z

    @classmethod
    def of(cls, matrix: Any) -> FeatureCovariance:
        """That of a dense matrix `(q, q)`; rounding below zero counts as zero."""
        if isinstance(matrix, FeatureCovariance):
            return matrix
        matrix = np.asarray(matrix, dtype=np.float64)
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(matrix)
            factor = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(np.ones(len(matrix)), factor)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_pools": Remembered()}  # no part of a covariance

    @property
    def deviation(self) -> Array:
        """D, the prior deviations, `(q,)`."""
        return self._deviation

    @property
    def basis(self) -> Array | None:
        """B `(r, q)`, or None where the span is everything."""
        return self._basis

    @property
    def factor(self) -> Array:
        """F `(r, r)`, in whitened coordinates."""
        return self._factor

    @property
    def shape(self) -> tuple[int, int]:
        """`(q, q)`."""
        return (len(self._deviation), len(self._deviation))

    @property
    def top_eigenvalue(self) -> float:
        """The largest eigenvalue of M, from matrices no larger than the span."""
        if self._basis is None:
            return float(np.linalg.eigvalsh(self.dense())[-1])
        common = float(self._deviation[0])
        others = np.flatnonzero(self._deviation != common)  # at most the constant
        prior = FeatureCovariance(
            np.ones(len(self._deviation)), np.eye(len(self._basis)), self._basis
        )
        for place in others:
            unit = np.zeros(len(self._deviation))
            unit[place] = 1.0
            prior, _ = prior._grown(unit)
        directions = prior._basis if prior._basis is not None else self._basis
        if len(directions) == 0:
            return common**2
        turned = directions * self._deviation
        within = turned @ self._basis.T
        image = within @ self._factor
        matrix = turned @ turned.T - within @ within.T + image @ image.T
        top = float(np.linalg.eigvalsh(matrix)[-1])
        return max(top, common**2) if len(directions) < len(self._deviation) else top

    def dense(self) -> Array:
        """M itself, `(q, q)`; refused where it would be too large to be meant."""
        require_room(self.shape, "the covariance of the features")
        if self._basis is None:
            rooted = self._deviation[:, None] * self._factor
            return rooted @ rooted.T
        turned = self._basis * self._deviation
        image = self._factor.T @ turned
        matrix = np.diag(self._deviation**2)
        matrix -= turned.T @ turned
        matrix += image.T @ image
        return matrix

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.dense() if dtype is None else self.dense().astype(dtype)

    def coordinates(self, features: Any) -> Any:
        """F'B D x of every row, `(n, r)`: the part of x'Mx within the span is its square."""
        if self._basis is None:
            return times(features, self._deviation[:, None] * self._factor)
        inside = self._inside(features)
        return inside @ self._factor.astype(inside.dtype, copy=False)

    def quadratic(self, features: Any) -> Any:
        """x'Mx of every row of features `(n, p)`, shape `(n,)`."""
        image = self.coordinates(features)
        within = np.einsum("ij,ij->i", image, image)
        return within if self._basis is None else within + self._outside(features)

    def _inside(self, features: Any) -> Any:
        """B D x of every row, `(n, r)`; remembered for a sparse matrix that cannot be written to.

        The basis of a later covariance begins with this one, and so do its columns.
        """
        basis, scale = self._basis, self._deviation
        if basis is None:
            return times(features, np.diag(scale))
        image = self._pools.get("image", (features,))
        if image is None or image.shape[1] > len(basis):
            image = np.empty((features.shape[0], 0))
        have = image.shape[1]
        if have < len(basis):
            more = times(features, (basis[have:] * scale).T)
            image = more if have == 0 else np.concatenate((image, more), axis=1)
            self._pools.put("image", (features,), image)
        return image

    def cross(self, features: Any, others: Any) -> Array:
        """x'Mx* of every pair of rows, `(n, t)`."""
        if self._basis is None:
            return self.coordinates(features) @ self.coordinates(others).T
        inside, there = self._inside(features), self._inside(others)
        forms = inside @ ((there @ self._factor) @ self._factor.T - there).T
        pair = features, others
        forms += self._pools.once("product", pair, lambda: weighted_products(*pair, self._squares))
        return forms

    @property
    def _squares(self) -> Array:
        return self._deviation**2

    def image(self, row: Array) -> Array:
        """M x for one row `(q,)`."""
        white = row * self._deviation
        if self._basis is None:
            return self._deviation * (self._factor @ (self._factor.T @ white))
        inside = self._basis @ white
        moved = self._factor @ (self._factor.T @ inside) - inside
        return self._deviation * (white + moved @ self._basis)

    def shrunk(self, row: Array, weight: float) -> tuple[FeatureCovariance, RankOne]:
        """(M^-1 + w x x')^-1 for one row `(q,)`, and the change; it cannot turn indefinite."""
        grown, inside = self._grown(row * self._deviation)
        along = grown._factor.T @ inside
        variance = float(along @ along)
        shrink = weight / (1.0 + weight * variance)
        change = RankOne(grown.image(row), shrink)
        if variance == 0.0 or weight == 0.0:
            return grown, RankOne(change.image, 0.0)
        unit = along / np.sqrt(variance)
        kept = image = np.outer(grown._factor @ unit, unit)
        factor = grown._factor
        for _ in range(2):  # twice, so that nothing of the direction is left but its new part
            factor = factor - kept
            kept = np.outer(factor @ unit, unit)
        factor += image / np.sqrt(1.0 + weight * variance)
        after = FeatureCovariance(self._deviation, factor, grown._basis)
        return grown._sharing(after), change

    def grown(self, rows: Array) -> FeatureCovariance:
        """The same covariance on a span that holds these rows `(b, q)` as well."""
        held = self
        for row in rows:
            held, _ = held._grown(row * self._deviation)
        return held

    def lifted(self, weights: Array) -> Array:
        """Weights in the coordinates of the span, `(..., r)`, as weights of the features.

        Those of a smaller span that this one began with are taken too.
        """
        count = weights.shape[-1]
        white = weights if self._basis is None else weights @ self._basis[:count]
        return white * self._deviation

    def with_factor(self, factor: Array) -> FeatureCovariance:
        """The covariance with another F in the same span."""
        return self._sharing(FeatureCovariance(self._deviation, factor, self._basis))

    def _sharing(self, later: FeatureCovariance) -> FeatureCovariance:
        """A covariance whose basis begins with this one, knowing the same pools."""
        later._set(_pools=self._pools.copy())
        return later

    def root(self) -> Array:
        """A matrix R `(q, q)` with R R' = M; refused where it would be too large."""
        require_room(self.shape, "the factor of the covariance")
        return self.draw(np.eye(len(self._deviation))).T

    def arrays(self) -> dict[str, np.ndarray]:
        """The parts, by the names of the constructor's arguments."""
        parts = {"deviation": self._deviation, "factor": self._factor}
        return parts if self._basis is None else parts | {"basis": self._basis}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> FeatureCovariance:
        """The covariance that `arrays` came from."""
        return cls(arrays["deviation"], arrays["factor"], arrays.get("basis"))

    def whitened(self, weights: Array) -> Array:
        """Weights `(k, q)` in the coordinates of the span, `(k, r)`."""
        white = weights / self._deviation
        return white if self._basis is None else white @ self._basis.T

    def extended(self, coordinates: Array, rows: Array) -> Array:
        """The coordinates `(n, r)` of earlier rows and of new ones, after `shrunk` by these."""
        white = rows * self._deviation
        white = white if self._basis is None else white @ self._basis.T
        result = np.zeros((len(coordinates) + len(rows), white.shape[1]))
        result[: len(coordinates), : coordinates.shape[1]] = coordinates
        result[len(coordinates) :] = white
        return result

    def draw(self, noise: Array) -> Array:
        """Deviations with covariance M from standard normal noise `(..., q)`."""
        if self._basis is None:
            return (noise @ self._factor.T) * self._deviation
        inside = noise @ self._basis.T
        return (noise + (inside @ self._factor.T - inside) @ self._basis) * self._deviation

    def _grown(self, white: Array) -> tuple[FeatureCovariance, Array]:
        """This covariance on a span that holds the whitened row, and the row's coordinates."""
        if self._basis is None:
            return self, white
        rest, inside = white, np.zeros(len(self._basis))
        for _ in range(2):  # twice is enough for orthogonality to rounding
            part = self._basis @ rest
            inside, rest = inside + part, rest - part @ self._basis
        size = float(np.sqrt(rest @ rest))
        if size <= DEPENDENT * float(np.sqrt(white @ white)):
            return self, inside
        rank = len(inside)
        basis = np.concatenate((self._basis, (rest / size)[None]))
        factor = np.zeros((rank + 1, rank + 1))
        factor[:rank, :rank], factor[rank, rank] = self._factor, 1.0
        grown = FeatureCovariance(self._deviation, factor, basis)
        return self._sharing(grown), np.append(inside, size)

    def _outside(self, features: Any) -> Any:
        """|D x|^2 less its part within the span, `(n,)`; little of it not by difference."""
        if self._basis is None:
            return 0.0
        rank, rest = self._pools.get("outside", (features,)) or (-1, None)
        if rank == len(self._basis):
            return rest
        own = self._pools.once(
            "squares", (features,), lambda: weighted_squares(features, self._squares)
        )
        inside = self._inside(features)
        rest = own - np.einsum("ij,ij->i", inside, inside)
        near = np.flatnonzero(rest < NEAR * own)
        step = max(1, PIECE // len(self._deviation))
        for start in range(0, len(near), step):
            rows = near[start : start + step]
            piece = features[rows].toarray() if is_sparse(features) else features[rows]
            white = piece * self._deviation[: piece.shape[1]]
            if len(self._deviation) > piece.shape[1]:
                white = np.column_stack((white, np.full(len(white), self._deviation[-1])))
            white -= inside[rows] @ self._basis
            left = np.einsum("ij,ij->i", white, white)
            rest[rows] = np.where(left > DEPENDENT**2 * own[rows], left, 0.0)
        self._pools.put("outside", (features,), (len(self._basis), rest))
        return rest


def orthonormal_rows(Z: Array) -> tuple[Array, Array]:
    """An orthonormal basis `(r, q)` of the rows of Z `(n, q)`, n < q, and their coordinates."""
    frame, upper = np.linalg.qr(Z.T)
    sizes = np.linalg.norm(upper, axis=0)
    if (np.abs(np.diag(upper)) > DEPENDENT * sizes).all():
        return np.ascontiguousarray(frame.T), np.ascontiguousarray(upper.T)
    from apm._kernels.dense import row_basis  # some rows depend on others: one at a time

    basis, coordinates = Z.copy(), np.empty((len(Z), len(Z)))
    rank = row_basis(basis, coordinates)
    return basis[:rank], np.ascontiguousarray(coordinates[:, :rank])


def require_room(shape: tuple[int, int], what: str, argument: str = "num_features") -> None:
    """Refuse a dense matrix that nobody can want, before it is allocated."""
    entries = shape[0] * shape[1]
    if entries > LARGEST_DENSE:
        rule = (
            f"must be small enough for {what}, {shape[0]:,} x {shape[1]:,}: "
            f"it would take {8 * entries / 2**30:.1f} GiB"
        )
        raise InvalidArgument(argument, rule, shape[0])
