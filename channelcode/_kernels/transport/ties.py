"""Cells that meet where, in general position, they would not."""

from __future__ import annotations

import math

from channelcode._kernels.jit import kernel

GOLDEN = 0.6180339887498949
TINY = 1e-100  # no potential, but not zero either


@kernel
def place_of(j: int, lowest: int) -> float:
    """A number between 0 and 1 for each atom, no two differences alike; -1 for the lowest."""
    part = (j + 1) * (j + 1) * GOLDEN
    return -1.0 if j == lowest else part - math.floor(part)


@kernel
def untied(first: int, second: int, lowest: int) -> float:
    """The difference of two equal potentials, each moved by next to nothing of its own.

    The lowest cell holds the origin, if only just: where many cells meet there, this tells them
    apart.
    """
    return TINY * (place_of(second, lowest) - place_of(first, lowest))
