"""What every input law knows about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from channelcode._validation import Array, Seed, finite_array
from channelcode.errors import InvalidArgument


class Immutable:
    """An object whose slots are filled once, by `_set`, and never again."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new one instead")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new one instead")

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        names = (name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()))
        return {name: getattr(self, name) for name in names}

    def fingerprint(self) -> tuple[Any, ...]:
        """Kind and content, for equality and hashes of results that hold this object."""
        content = self.__getstate__().values()
        return type(self), *(_frozen(value) for value in content)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self._set(**state)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return value


class Measure(Immutable, ABC):
    """A probability law of the channel input on R^dim.

    On the line (`dim = 1`) nothing carries a trailing axis: means and covariances are floats and
    points have shape `(m,)`. In R^k they have shapes `(k,)`, `(k, k)` and `(m, k)`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def dim(self) -> int:
        """The dimension of the space."""

    @property
    @abstractmethod
    def mean(self) -> Any:
        """E L: a float on the line, `(k,)` in R^k."""

    @property
    @abstractmethod
    def covariance(self) -> Any:
        """Cov L: a float (the variance) on the line, `(k, k)` in R^k."""

    @property
    def second_moment(self) -> float:
        """The power E|L|^2 = |E L|^2 + tr Cov L."""
        mean, covariance = np.atleast_1d(self.mean), np.atleast_2d(self.covariance)
        return float(mean @ mean + np.trace(covariance))

    @abstractmethod
    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Seed = None) -> Array:
        """Draw from the law: shape `size` on the line, `(*size, k)` in R^k."""

    @abstractmethod
    def transform(self, matrix: ArrayLike, offset: ArrayLike = 0.0) -> Measure:
        """The law of `matrix @ L + offset` (a scalar matrix scales)."""

    def project(self, direction: ArrayLike) -> Measure:
        """The law on the line of <direction, L>; the direction is used as given, not normalised."""
        vector = finite_array("direction", direction, ndim=(0, 1)).reshape(1, -1)
        if vector.shape[1] != self.dim:
            raise InvalidArgument("direction", f"must have length {self.dim}", vector.shape[1])
        return self.transform(vector)


def points_of(argument: str, value: ArrayLike) -> Array:
    """Return points as `(m, dim)` from `(m,)`, `(m, 1)` or `(m, dim)`."""
    points = finite_array(argument, value, ndim=(1, 2))
    return points[:, None] if points.ndim == 1 else points


def affine_map(dim: int, matrix: ArrayLike, offset: ArrayLike) -> tuple[Array, Array]:
    """Return `(matrix, offset)` as `(j, dim)` and `(j,)`; a scalar matrix scales."""
    linear = finite_array("matrix", matrix, ndim=(0, 2))
    if linear.ndim == 0:
        linear = float(linear) * np.eye(dim)
    if linear.shape[1] != dim:
        raise InvalidArgument("matrix", f"must have {dim} columns", f"shape {linear.shape}")
    shift = finite_array("offset", offset, ndim=(0, 1))
    if shift.ndim == 1 and shift.shape[0] != linear.shape[0]:
        raise InvalidArgument("offset", f"must have length {linear.shape[0]}", shift.shape[0])
    return linear, np.broadcast_to(shift, (linear.shape[0],))


def squeeze_line(array: Array, dim: int, axes: int = 1) -> Any:
    """Drop the last `axes` axes on the line; a value without axes left becomes a float."""
    if dim != 1:
        return array
    squeezed = array.reshape(array.shape[: array.ndim - axes])
    return float(squeezed) if squeezed.ndim == 0 else squeezed


def sizes(size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Return a NumPy-style size argument as a tuple."""
    if size is None:
        return ()
    return (size,) if isinstance(size, int | np.integer) else tuple(size)
