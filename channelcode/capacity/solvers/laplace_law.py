"""Laws on the line whose output through Laplace noise is a piece of a Gaussian or even density."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.information.mixtures.laplace import LaplaceMixture

SPACING = 0.016  # scales between atoms of the smooth part: the gap is then about 3e-10 bits
MOST_ATOMS = 100_000
MOST_STEPS = 24


class Shape(NamedTuple):
    """q = e^(-s y^2) on [-half, half], in scales: s = `price`, and atoms at its ends and the peak.

    The smooth part of the law is q - q'', as f - f'' = delta for Laplace noise of scale one; `end`
    and `peak` are the masses at half and at the peak on the same footing.
    """

    half: float
    end: float
    peak: float
    price: float

    def law(self, reach: float, count: int, *, cut: float = np.inf) -> tuple[Array, Array]:
        """Atoms in scales and weights: `count` cells, each one atom that looks alike from outside.

        Where p is the density in a cell, int p e^y dy and int p e^-y dy are known, because
        (q - q'') e^y = ((q - q') e^y)', and give the atom's place and mass. With `cut` only the
        smooth part within it is used.
        """
        half = min(self.half, cut)
        width = 2.0 * half / count
        centres = -half + width * (np.arange(count) + 0.5)
        centres = 0.5 * (centres - centres[::-1])
        s, grow = self.price, exp(0.5 * width)
        levels = [np.exp(-s * width * (sign * centres + 0.25 * width)) for sign in (-1.0, 1.0)]
        slopes = [
            -2.0 * s * (centres + sign * 0.5 * width) * level
            for sign, level in zip((-1.0, 1.0), levels, strict=True)
        ]
        from_left = (levels[1] - slopes[1]) * grow - (levels[0] - slopes[0]) / grow
        from_right = (levels[0] + slopes[0]) * grow - (levels[1] + slopes[1]) / grow
        points = centres + 0.5 * np.log(from_left / from_right)
        weights = np.exp(-s * centres**2) * np.sqrt(from_left * from_right)
        if half == self.half:
            points = np.concatenate([[-half], points, [half]])
            weights = np.concatenate([[self.end], weights, [self.end]])
        if self.peak > 0.0:
            points = np.concatenate([[-reach], points, [reach]])
            weights = np.concatenate([[self.peak], weights, [self.peak]])
        return points, weights / weights.sum()

    def multiplier(self, count: int) -> float:
        """The multiplier of the law with so many cells, in nats per squared scale.

        Atoms w apart raise ln q by w^2/24 p/q on average, p/q = 1 + 2 s - 4 s^2 y^2, and thereby
        what is left for the power by s^2 w^2/6.
        """
        width = 2.0 * self.half / count
        return self.price * (1.0 + self.price * width * width / 6.0)


def cells(half: float, tol: float, *, least: int = 4) -> int:
    """How many cells a smooth part needs, for a gap of about `tol` nats: it falls as width^4."""
    spacing = SPACING * min((tol / 7e-10) ** 0.25, 8.0)
    return max(int(np.ceil(2.0 * half / spacing)), least)


def matched(start: Shape, reach: float, power: float | None, count: int) -> tuple[Shape, int]:
    """The shape near `start` that meets KKT with so many cells, and the steps of Newton taken.

    F = D - s l^2 is to be the same in the middle, at `half` and at the peak (where it has mass),
    its slope zero at `half`, and the power, unless None, to be spent; without one s is kept.
    """
    free = [True, True, start.peak > 0.0, power is not None]

    def shape(unknown: Array) -> Shape:
        values = np.array(start)
        values[free] = unknown
        return Shape(*values.tolist())

    def residual(unknown: Array) -> Array:
        here = shape(unknown)
        points, weights = here.law(reach, count)
        last = len(points) - 1
        end = last - 1 if here.peak > 0.0 else last
        at = points[[len(points) // 2, end, last]]
        found = LaplaceMixture(1.0, points, weights).divergence(at)
        price = here.multiplier(count)
        middle, edge, top = found.value - price * at**2
        missing = [edge - middle, found.slope[1] - 2.0 * price * at[1]]
        if here.peak > 0.0:
            missing.append(top - middle)
        if power is not None:
            missing.append(float(weights @ points**2) / power - 1.0)
        return np.array(missing)

    unknown, steps = np.array(start)[free], 0
    while steps < MOST_STEPS:
        steps += 1
        missing = residual(unknown)
        if np.abs(missing).max() <= 1e-14:
            break
        columns = []
        for i in range(len(unknown)):
            moved = unknown.copy()
            moved[i] += 1e-6 * max(unknown[i], 1e-3)
            columns.append((residual(moved) - missing) / (moved[i] - unknown[i]))
        change = np.linalg.lstsq(np.array(columns).T, -missing, rcond=None)[0]
        size = np.abs(change / unknown).max()
        unknown = np.asarray(unknown + change * min(1.0, 0.3 / max(size, 1e-300)), np.float64)
        if size <= 1e-12:
            break
    return shape(unknown), steps
