"""D(f(.|l) || q) for noise that is added to the input, by a trapezoid rule with a proved error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from channelcode._validation import Array
from channelcode.information.output_divergence import divergence_terms

GOAL = 1e-17  # nats: the error of the trapezoid rule
MOST_PRODUCTS = 20_000_000  # nodes times atoms
_AT_ONCE = 400


class Bent(NamedTuple):
    """Divergences in nats `(n,)` and their second derivatives in the input, or less than those."""

    value: Array
    bend: Array


class LocationMixture(ABC):
    """The output law q = sum_j w_j g(y - l_j) of noise with the density g.

    With f = g(. - l), all in units of `unit`,

        D = int [q - f - f ln(q/f)] dy,    D'' = -int f (ln q)'' dy.

    Where the integrands are analytic in |Im y| < a, the trapezoid rule with step h errs by at most
    2 M / (e^(2 pi a / h) - 1), M a bound on int |integrand(u + iv)| du for |v| < a (Trefethen and
    Weideman 2014, Theorem 5.1). A member knows a and M, and so the step at which that is nothing.
    """

    reach: tuple[float, float]  # from the input: all but 2e-20 of the noise lies between
    together: float  # inputs no farther apart share their nodes

    def __init__(self, unit: float, atoms: Array, weights: Array) -> None:
        used = weights > 0
        self.unit, self.atoms, self.weights = unit, atoms[used] / unit, weights[used]
        self.width = float(np.ptp(self.atoms))
        self.middle = 0.5 * float(self.atoms.max() + self.atoms.min())

    @abstractmethod
    def log_noise(self, x: Array) -> Array:
        """ln g in units of the noise."""

    @abstractmethod
    def curved(self, nodes: Array, share: Array) -> Array:
        """(ln q)'' at the nodes `(m,)`, or more, from P(atom | node), `(m, atoms)`."""

    @abstractmethod
    def step(self, low: float, high: float) -> float:
        """The step at which the rule errs by less than `GOAL`; inputs between `low` and `high`."""

    @abstractmethod
    def down(self, least: Array, width: Array) -> Array:
        """A bound on -D'' between inputs so far apart, from the lesser `bend` of both ends."""

    @abstractmethod
    def error(self, value: Any) -> Any:
        """The error of divergences of that `value`: the rule's, the tails', and of rounding."""

    @property
    def affordable(self) -> bool:
        """Whether the nodes that a proof needs, in the range of the atoms, are not too many."""
        low, high = float(self.atoms.min()), float(self.atoms.max())
        nodes = (self.width + self.reach[1] - self.reach[0]) / self.step(low, high)
        return nodes * len(self.atoms) <= MOST_PRODUCTS

    def divergence(self, l: Array) -> Bent:
        """D(f(.|l) || q) in nats and D'', at inputs `l (n,)`."""
        inputs = l / self.unit
        step = self.step(float(inputs.min()), float(inputs.max()))
        ends = np.concatenate([inputs, self.atoms])
        first = np.floor((ends.min() + self.reach[0]) / step)
        nodes = step * np.arange(first, np.ceil((ends.max() + self.reach[1]) / step) + 1.0)
        logs = self.log_noise(nodes[:, None] - self.atoms) + np.log(self.weights)
        log_q = np.asarray(logsumexp(logs, axis=1))
        curved = self.curved(nodes, np.exp(logs - log_q[:, None]))
        mass = step * np.exp(log_q)
        below, above = np.append(0.0, mass.cumsum()), np.append(mass[::-1].cumsum()[::-1], 0.0)
        value, bend = np.empty(len(inputs)), np.empty(len(inputs))
        for part in self._groups(inputs):
            own = inputs[part]
            ends = [own.min() + self.reach[0], own.max() + self.reach[1]]
            first, last = np.searchsorted(nodes, ends)
            near = slice(first, last)  # elsewhere f is nothing, and the integrand q
            logs = self.log_noise(nodes[near] - own[:, None])
            inside = divergence_terms(logs, log_q[near]).sum(axis=1)
            value[part] = step * inside + below[first] + above[last]
            bend[part] = -step * (np.exp(logs) @ curved[near])
        return Bent(value, bend / self.unit**2)

    def _groups(self, inputs: Array) -> Iterator[Any]:
        """Places of inputs near each other, some hundred at a time."""
        order = np.argsort(inputs, kind="stable")
        cells = np.floor((inputs[order] - inputs[order[0]]) / self.together)
        for cell in np.split(order, np.flatnonzero(np.diff(cells)) + 1):
            for start in range(0, len(cell), _AT_ONCE):
                yield cell[start : start + _AT_ONCE]
