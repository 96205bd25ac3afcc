"""D(f(.|l) || q) for Laplace noise and a law with finitely many atoms, to rounding."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

_WIDEST = 0.5  # scales in one panel: then ten nodes reach rounding, see `LaplaceMixture`
_NARROW = 0.06  # scales: on panels below this four nodes reach 1e-16
_NEGLIGIBLE = 60.0  # scales: e^-60 of an integrand that grows like y is nothing


class Curved(NamedTuple):
    """Divergences in nats `(n,)` with their first two derivatives in the input."""

    value: Array
    slope: Array
    bend: Array


class LaplaceMixture:
    """The output law q = sum_j w_j f(.|l_j) of Laplace noise of scale b.

    With f - b^2 f'' = delta, the integral u(l) = int f(y|l) v(y) dy of v = ln q + ln 2b + 1 solves
    u - b^2 u'' = v, and D = -u. It is a sum of one part from the left and one from the right,

        L(l) = int_{y < l} e^(-(l-y)/b) v dy / 2b,  D = -L - R, D' = (L - R)/b, D'' = (D + v)/b^2,

    each of which follows from panel to panel. Between atoms q = A e^(-y/b) + B e^(y/b)
    has its zeros pi/2 scales away from the real line, so that ten Gauss nodes on a panel of half a
    scale err by less than 1e-19 of v; beyond the atoms v is linear and the integral exact. What is
    left is rounding. As |(ln q)'| <= 1/b: |D'| <= 1/b, |D''| <= 1/b^2, and D'' changes at a rate of
    2/b^3 at most.

    >>> law = LaplaceMixture(1.0, np.array([0.0]), np.array([1.0]))
    >>> law.divergence(np.array([2.0])).value.round(6)      # 2 + e^-2 - 1
    array([1.135335])
    """

    def __init__(self, scale: float, atoms: Array, weights: Array) -> None:
        order = np.argsort(atoms, kind="stable")
        order = order[weights[order] > 0]
        self.scale, self.atoms, self.weights = scale, atoms[order] / scale, weights[order]
        gaps = np.diff(self.atoms)
        logs = np.log(self.weights)
        below, above = logs.copy(), logs.copy()  # ln of sum_{j <= i} w_j e^(l_j - l_i), and above
        for i in range(1, len(logs)):
            below[i] = np.logaddexp(logs[i], below[i - 1] - gaps[i - 1])
        for i in range(len(logs) - 2, -1, -1):
            above[i] = np.logaddexp(logs[i], above[i + 1] - gaps[i])
        self._below, self._above = np.append(-np.inf, below), np.append(above, -np.inf)

    def _level(self, y: Array) -> Array:
        """v = ln q + ln 2b + 1 at outputs y, in scales."""
        place = np.searchsorted(self.atoms, y, side="right")
        padded = np.concatenate([self.atoms[:1], self.atoms, self.atoms[-1:]])
        left = self._below[place] - np.abs(y - padded[place])
        right = self._above[place] - np.abs(padded[place + 1] - y)
        return np.logaddexp(left, right) + 1.0

    def divergence(self, l: Array) -> Curved:
        """D(f(.|l) || q) in nats with D' and D'', at inputs `l (n,)`."""
        inputs = l / self.scale
        edges = _panels(np.unique(np.concatenate([inputs, self.atoms])))
        nodes, shares = _gauss()
        width = np.diff(edges)
        offsets = 0.5 * width[:, None] * (1.0 + nodes)
        level = self._level(edges[:-1, None] + offsets) * (0.25 * width[:, None] * shares)
        from_left = (level * np.exp(offsets - width[:, None])).sum(axis=1)
        from_right = (level * np.exp(-offsets)).sum(axis=1)
        first, last = self._level(edges[[0, -1]])
        decay = np.exp(-width)
        left = _followed(0.5 * (first - 1.0), decay, from_left)
        right = _followed(0.5 * (last - 1.0), decay[::-1], from_right[::-1])[::-1]
        place = np.searchsorted(edges, inputs)
        left, right = left[place], right[place]
        value = np.maximum(-(left + right), 0.0)
        bend = (self._level(inputs) - (left + right)) / self.scale**2
        return Curved(value, (left - right) / self.scale, bend)


def laplace_rows(scale: float, letters: Array) -> Array:
    """The channel at sorted letters as a matrix `(n, Y)` over panels between them, for a solver.

    Beyond the letters all densities are alike, and either tail is one output.
    """
    points = letters / scale
    edges = _panels(points)
    nodes, shares = _gauss(4 if np.diff(edges).max(initial=0.0) < _NARROW else 10)
    half = 0.5 * np.diff(edges)[:, None]
    outputs = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
    weights = (0.5 * half * shares).ravel()
    inner = weights * np.exp(-np.abs(outputs - points[:, None]))
    low = 0.5 * np.exp(points[0] - points)[:, None]
    high = 0.5 * np.exp(points - points[-1])[:, None]
    rows = np.concatenate([low, inner, high], axis=1)
    return rows / rows.sum(axis=1, keepdims=True)


def _panels(marks: Array) -> Array:
    """Edges at the marks and in between, half a scale apart where the kernel still counts."""
    width = np.diff(marks)
    steps = np.minimum(np.ceil(width / _WIDEST), 2.0 * _NEGLIGIBLE / _WIDEST).astype(np.int64)
    wide = np.flatnonzero(steps > 1)
    if len(wide) == 0:
        return marks
    pieces = [marks]
    for i in wide:
        if width[i] <= 2.0 * _NEGLIGIBLE:
            pieces.append(marks[i] + width[i] * np.arange(1, steps[i]) / steps[i])
        else:
            offsets = np.arange(_WIDEST, _NEGLIGIBLE, _WIDEST)
            pieces += [marks[i] + offsets, marks[i + 1] - offsets]
    return np.unique(np.concatenate(pieces))


def _followed(start: float, decay: Array, gain: Array) -> Array:
    """x_0 = start, x_{i+1} = decay_i x_i + gain_i."""
    values = [start]
    for factor, term in zip(decay.tolist(), gain.tolist()):
        values.append(factor * values[-1] + term)
    return np.array(values)


@cache
def _gauss(count: int = 10) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights
