"""One error family: everything this library raises on purpose derives from `ChannelCodeError`."""

from __future__ import annotations

import sys
import warnings
from typing import Any

_LONGEST_VALUE = 200


def _shown(value: object) -> str:
    """The value for a message; a phrase such as "shape (3,)" describes one and stands as it is."""
    text = value if isinstance(value, str) and " " in value else repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the line that called the library, however deep inside it this is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("apm", "channelcode", "functools"):
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


VECTORISE = "use NumPy functions and np.where, not math and if"
_SCALAR_CODE = (
    "truth value of an array",
    "only length-1 arrays",
    "only 0-dimensional arrays",
    "must be real number",
)


def is_scalar_code(error: Exception) -> bool:
    """Whether an error comes of code for one number that was given an array."""
    return any(part in str(error) for part in _SCALAR_CODE)


class ChannelCodeError(Exception):
    """The base of every error that this library raises on purpose."""


class InvalidArgument(ChannelCodeError, ValueError):
    """An argument breaks its rule; the message names the argument, the rule and the value.

    >>> raise InvalidArgument("power", "must be non-negative", -1.0)
    Traceback (most recent call last):
        ...
    channelcode.errors.InvalidArgument: power must be non-negative, got -1.0
    """

    def __init__(self, argument: str, rule: str, value: object = None) -> None:
        self.argument = argument
        self.rule = rule
        self.value = value
        super().__init__(f"{argument} {rule}, got {_shown(value)}")

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[str, str, object]]:
        return type(self), (self.argument, self.rule, self.value)


class NotConverged(ChannelCodeError, RuntimeError):
    """A solver stopped short of its tolerance; `result` is the best that it proved."""

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
        super().__init__(message)

    def __reduce__(self) -> tuple[type[NotConverged], tuple[str, Any]]:
        return type(self), (str(self), self.result)


class MissingExtra(ChannelCodeError, ImportError):
    """An optional package is not installed; the message says which extra brings it."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{package} is not installed: pip install 'channelcode[{extra}]' brings what this needs"
        )

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.package, self.extra)
