"""The checks of the public boundary: each returns clean values or raises `InvalidArgument`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from channelcode.errors import VECTORISE, InvalidArgument, is_scalar_code

Array = NDArray[np.float64]
Seed = np.random.Generator | int | None

WEIGHT_SUM_ATOL = 1e-9  # weights given to nine digits pass; anything cruder is a mistake


def real_array(argument: str, value: ArrayLike) -> Array:
    """Return `value` as a float64 array; complex, object and text input is refused."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InvalidArgument(argument, "must be a regular array of numbers", value) from None
    if raw.dtype == object:
        try:
            raw = raw.astype(np.float64)
        except OverflowError:
            raise InvalidArgument(argument, "must lie in the range of doubles", value) from None
        except (TypeError, ValueError):
            raise InvalidArgument(argument, "must hold real numbers", value) from None
    if raw.dtype.kind not in "buif":
        raise InvalidArgument(argument, "must hold real numbers", value)
    return np.asarray(raw, dtype=np.float64)


def of_arrays(argument: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A user's function of arrays; one that was written for single numbers is refused by name."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        if not is_scalar_code(error):
            raise
        rule = f"must take arrays, and is not vectorised ({VECTORISE})"
        raise InvalidArgument(argument, rule, str(error)) from error


def finite_array(
    argument: str, value: ArrayLike, *, ndim: int | tuple[int, ...] | None = None
) -> Array:
    """Return `value` as a finite, non-empty float64 array with `ndim` axes."""
    array = real_array(argument, value)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if allowed is not None and array.ndim not in allowed:
        axes = " or ".join(str(n) for n in allowed)
        raise InvalidArgument(argument, f"must have {axes} axes", f"shape {array.shape}")
    if array.size == 0:
        raise InvalidArgument(argument, "must not be empty", f"shape {array.shape}")
    if not np.logical_and.reduce(np.isfinite(array), axis=None):
        where = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        place = f" at index {tuple(int(i) for i in where)}" if array.ndim else ""
        raise InvalidArgument(argument, "must be finite", f"{array[where]}{place}")
    return array


def number(argument: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if type(value) is float and isfinite(value):
        return value
    return float(finite_array(argument, value, ndim=0))


def positive(argument: str, value: Any) -> float:
    """Return `value` as a finite float above zero."""
    result = number(argument, value)
    if result <= 0:
        raise InvalidArgument(argument, "must be positive", value)
    return result


def non_negative(argument: str, value: Any) -> float:
    """Return `value` as a finite float that is zero or above."""
    result = number(argument, value)
    if result < 0:
        raise InvalidArgument(argument, "must be non-negative", value)
    return result


def probability(argument: str, value: Any) -> float:
    """Return `value` as a float in [0, 1]."""
    result = number(argument, value)
    if not 0 <= result <= 1:
        raise InvalidArgument(argument, "must lie in [0, 1]", value)
    return result


def integer(argument: str, value: Any, *, least: int) -> int:
    """Return `value` as an int of at least `least`; floats are refused even when whole."""
    if isinstance(value, bool | np.bool_):
        raise InvalidArgument(argument, "must be an integer", value)
    try:
        result = operator.index(value)
    except TypeError:
        raise InvalidArgument(argument, "must be an integer", value) from None
    if result < least:
        raise InvalidArgument(argument, f"must be at least {least}", value)
    return result


def distribution(argument: str, value: ArrayLike, *, ndim: int | None = None) -> Array:
    """Return `value` as weights along the last axis: non-negative, summing to one."""
    weights = finite_array(argument, value, ndim=ndim)
    if weights.ndim == 0:
        raise InvalidArgument(argument, "must have at least one axis", value)
    least = np.minimum.reduce(weights, axis=None)
    if least < 0:
        raise InvalidArgument(argument, "must be non-negative", float(least))
    total = np.add.reduce(weights, axis=-1)
    worst = np.maximum.reduce(np.abs(total - 1), axis=None)
    if worst > WEIGHT_SUM_ATOL:
        bad = np.ravel(total)[int(np.argmax(np.abs(np.ravel(total) - 1)))]
        raise InvalidArgument(argument, "must sum to one", f"a sum of {float(bad)!r}")
    return weights / total[..., None]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a private, contiguous, read-only copy of `array`."""
    copy = np.array(array, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def as_generator(rng: Seed) -> np.random.Generator:
    """Return a generator from a generator, a seed, or None (fresh entropy)."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng()
    try:
        seed = operator.index(rng)
    except TypeError:
        raise InvalidArgument("rng", "must be a numpy Generator or an integer seed", rng) from None
    if seed < 0:
        raise InvalidArgument("rng", "must be a non-negative seed", rng)
    return np.random.default_rng(seed)
