"""What an encoder is: the map from an example and the parameters to the channel input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.pools.inputs import Matrix, as_dense
from channelcode._validation import Array, finite_array
from channelcode.errors import InvalidArgument

STEP = 1e-5  # of a central difference, in units of max(1, |theta_j|): good to about 1e-9
PIECE_ENTRIES = 1 << 20  # channel inputs of one piece of the differences: eight mebibytes


class Encoder:
    """The map l = h(theta, x), applied to each row by itself.

    Most are linear in the parameters: they write `encode(X)`, features phi(x) from `(n, d)` to
    `(n, p)`, and l = <theta, phi(x)>. An encoder into which the parameters enter otherwise sets
    `num_parameters` and writes `inputs(theta, X)`; it is given to the posterior, as in
    `Grid(axes, channel, encoder)`. Large pools are encoded in pieces, so a row of the result must
    not depend on the other rows.

    >>> class Decay(Encoder):
    ...     num_parameters = 2
    ...     def inputs(self, theta, X):
    ...         theta, x = np.asarray(theta), np.asarray(X)
    ...         return theta[:, 0] * np.exp(-theta[:, 1] * x[:, :1])
    >>> Decay().inputs([[2.0, 0.0], [1.0, 1.0]], [[0.0], [1.0]]).round(4)
    array([[2.    , 1.    ],
           [2.    , 0.3679]])
    """

    #: q, the number of parameters, of an encoder that is not linear in them; None for linear ones.
    num_parameters: int | None = None

    @property
    def is_linear(self) -> bool:
        """Whether l = <theta, phi(x)>, so that `encode` says all."""
        return self.num_parameters is None

    @property
    def has_jacobian(self) -> bool:
        """Whether `jacobian` is a formula, and not differences of `inputs`."""
        return self.is_linear or type(self).jacobian is not Encoder.jacobian

    def encode(self, X: ArrayLike) -> Matrix:
        """The features of every row of X: `(n, d)` to `(n, p)`."""
        if type(self).inputs is Encoder.inputs:
            name = type(self).__name__
            raise NotImplementedError(f"{name} must write encode(X), or inputs(theta, X)")
        raise InvalidArgument("encoder", f"must be linear here: {INSIDE}", self)

    def inputs(self, theta: ArrayLike, X: ArrayLike) -> Array:
        """The channel input of every row of X `(n, d)` at every theta `(s, q)`: `(n, s)`.

        `(n, s, k)` where the input has k coordinates; a linear encoder gives that for parameters
        `(s, k, p)`.

        >>> from apm import Affine
        >>> Affine().inputs([[1.0, 0.5], [2.0, 0.0]], [[3.0]])
        array([[3.5, 6. ]])
        """
        draws = finite_array("theta", theta, ndim=(2, 3))
        features: Any = self.encode(X)
        if features.shape[1] != draws.shape[-1]:
            rule = f"must have {features.shape[1]} entries for each draw, one for each feature"
            raise InvalidArgument("theta", rule, f"shape {draws.shape}")
        flat = features.astype(np.float64, copy=False) @ draws.reshape(-1, draws.shape[-1]).T
        return np.asarray(flat).reshape(features.shape[0], *draws.shape[:-1])

    def jacobian(self, theta: ArrayLike, X: ArrayLike) -> Array:
        """dl/dtheta of every row of X `(n, d)` at one theta `(q,)`: `(n, q)`, or `(n, k, q)`.

        At several, `(s, q)`, there is an axis for them after the first: `(n, s, q)` or
        `(n, s, k, q)`. By default these are central differences with steps
        `1e-5 max(1, |theta_j|)`; for a linear encoder the features.

        >>> from apm import NonLinear
        >>> power = NonLinear(lambda theta, X: X ** theta[:, 0], 1)
        >>> power.jacobian([2.0], [[3.0]]).round(6)  # 9 ln 3
        array([[9.887511]])
        """
        at = finite_array("theta", theta, ndim=(1, 2))
        if at.ndim == 2:
            return np.stack([self.jacobian(one, X) for one in at], axis=1)
        if self.is_linear:
            return as_dense(self.encode(X), "encoder(X)").astype(np.float64)
        return differences(self, at, X)


INSIDE = (
    "one with parameters that enter non-linearly is given to the posterior, as in "
    "Grid(axes, channel, encoder), Particles(channel, encoder) or Laplace(channel, encoder=encoder)"
)


def differences(encoder: Encoder, theta: Array, X: ArrayLike) -> Array:
    """dl/dtheta at theta `(q,)` by central differences: `(n, q)` or `(n, k, q)`."""
    matrix = as_dense(X).astype(np.float64, copy=False)
    steps = STEP * np.maximum(1.0, np.abs(theta))
    count = len(theta)
    columns = max(1, PIECE_ENTRIES // max(1, 2 * len(matrix)))
    parts = []
    for start in range(0, count, columns):
        chosen = np.arange(start, min(start + columns, count))
        moved = np.repeat(theta[None], 2 * len(chosen), axis=0)
        places = np.arange(len(chosen))
        moved[2 * places, chosen] += steps[chosen]
        moved[2 * places + 1, chosen] -= steps[chosen]
        width = moved[2 * places, chosen] - moved[2 * places + 1, chosen]  # as rounded
        values = np.asarray(encoder.inputs(moved, matrix), dtype=np.float64)
        across = (1, -1) if values.ndim == 2 else (1, -1, 1)
        parts.append((values[:, 0::2] - values[:, 1::2]) / width.reshape(across))
    joined = np.concatenate(parts, axis=1)
    return joined if joined.ndim == 2 else np.moveaxis(joined, 1, 2)
