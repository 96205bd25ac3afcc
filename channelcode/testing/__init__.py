"""Checks for members of your own, and Hypothesis strategies.

- `check_channel`, `check_constraint`: silent if all is well, an AssertionError that says what to
  mend otherwise. They need nothing but NumPy.
- `check_encoder`, `check_posterior`, `check_selector`: the same for the families of `apm`. They
  live in `apm.testing` and can be had from here when `apm` is installed beside this package.
- `channels`, `gaussians`, `measures`, `stochastic_matrices`: strategies for property tests.

>>> from channelcode import Logistic
>>> from channelcode.testing import check_channel
>>> check_channel(Logistic())
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from channelcode.testing.channel import check_channel
from channelcode.testing.constraint import check_constraint
from channelcode.testing.strategies import channels, gaussians, measures, stochastic_matrices

__all__ = [
    "channels",
    "check_channel",
    "check_constraint",
    "gaussians",
    "measures",
    "stochastic_matrices",
]

_OF_LEARNING = ("check_encoder", "check_posterior", "check_selector")


def __getattr__(name: str) -> Any:
    """The checks of `apm`, found only when asked for: this package does not depend on it."""
    if name in _OF_LEARNING:
        return getattr(import_module("apm.testing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_OF_LEARNING])
