"""An encoder from any function of the parameters and the example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders.base import Encoder
from apm.pools.inputs import as_dense, read_only_view
from channelcode._validation import Array, finite_array, integer, real_array
from channelcode.errors import InvalidArgument
from channelcode.measures.base import Immutable


class NonLinear(Immutable, Encoder):
    """The encoder l = function(theta, x), into which the parameters may enter in any way.

    `function` takes `theta (s, q)` and `X (n, d)` and returns `(n, s)`, or `(n, s, k)` for an input
    in R^k; q is `num_parameters`. It must be deterministic, must treat every row and every
    draw by itself, and must not modify its arguments. `jacobian`, if given, takes `theta (q,)` and
    `X (n, d)` and returns dl/dtheta, `(n, q)` or `(n, k, q)`; without it central differences serve.

    >>> import numpy as np
    >>> psychometric = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X - theta[:, 0]), 2)
    >>> psychometric.inputs([[1.0, 0.0], [0.0, np.log(2.0)]], [[3.0], [4.0]])
    array([[2., 6.],
           [3., 8.]])
    """

    __slots__ = ("_count", "_function", "_jacobian")
    _function: Callable[..., Any]
    _count: int
    _jacobian: Callable[..., Any] | None

    def __init__(
        self,
        function: Callable[..., Any],
        num_parameters: int,
        jacobian: Callable[..., Any] | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidArgument("function", "must be callable", function)
        if jacobian is not None and not callable(jacobian):
            raise InvalidArgument("jacobian", "must be callable, or None", jacobian)
        count = integer("num_parameters", num_parameters, least=1)
        self._set(_function=function, _count=count, _jacobian=jacobian)

    @property
    def num_parameters(self) -> int:  # type: ignore[override]
        """q, the number of parameters."""
        return self._count

    @property
    def has_jacobian(self) -> bool:
        return self._jacobian is not None

    @property
    def function(self) -> Callable[..., Any]:
        """The function behind `inputs`."""
        return self._function

    def inputs(self, theta: ArrayLike, X: ArrayLike) -> Array:
        draws = self._draws(theta, 2)
        rows = as_dense(X).astype(np.float64, copy=False)
        values = real_array(
            "function(theta, X)", self._function(read_only_view(draws), read_only_view(rows))
        )
        expected = (len(rows), len(draws))
        if values.ndim not in (2, 3) or values.shape[:2] != expected:
            rule = f"must have shape {expected}, rows by draws, or {(*expected, 'k')}"
            raise InvalidArgument("function(theta, X)", rule, f"shape {values.shape}")
        return values

    def jacobian(self, theta: ArrayLike, X: ArrayLike) -> Array:
        at = self._draws(theta, (1, 2))
        if self._jacobian is None or at.ndim == 2:
            return super().jacobian(at, X)
        rows = as_dense(X).astype(np.float64, copy=False)
        found = self._jacobian(read_only_view(at), read_only_view(rows))
        values = real_array("jacobian(theta, X)", found)
        if (
            values.ndim not in (2, 3)
            or values.shape[0] != len(rows)
            or values.shape[-1] != self._count
        ):
            rule = f"must have shape ({len(rows)}, {self._count}), or (n, k, q)"
            raise InvalidArgument("jacobian(theta, X)", rule, f"shape {values.shape}")
        return values

    def _draws(self, theta: ArrayLike, ndim: int | tuple[int, ...]) -> Array:
        draws = finite_array("theta", theta, ndim=ndim)
        if draws.shape[-1] != self._count:
            rule = f"must have {self._count} entries for each draw"
            raise InvalidArgument("theta", rule, f"shape {draws.shape}")
        return draws

    def __eq__(self, other: object) -> bool:
        return type(other) is NonLinear and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._function, self._count, self._jacobian

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        own = "" if self._jacobian is None else ", jacobian=..."
        return f"NonLinear({name}, {self._count}{own})"
