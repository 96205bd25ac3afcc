"""D(f(.|l) || q) for Poisson counts and a law with finitely many atoms, and how it bends."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from channelcode._validation import Array
from channelcode.channels import Poisson
from channelcode.information.mixtures.location import Bent
from channelcode.measures import DiscreteMeasure

_CHUNK = 1_000_000
_WIDENINGS = 400  # of a range by a tenth


class PoissonMixture:
    """The output law q = sum_j w_j f(.|l_j) of counts with the rates r = l + dark.

    With g(y) = ln sum_j w_j e^(-r_j) r_j^y the divergence is r ln r - r - E g(Y), and as
    d/dr E g(Y) = E[g(Y + 1) - g(Y)],

        D'' = 1/r - E h(Y),    h(y) = g(y + 2) - 2 g(y + 1) + g(y) = ln(E[R | y + 1] / E[R | y]).

    h is never negative (Cauchy and Schwarz), so -D'' <= E h(Y), which changes with r at a rate of
    max h at most. For y >= 1, h is at most the logarithm of the largest rate over the least
    positive one. `bend` is -E h(Y), which D'' is never below.

    >>> law = PoissonMixture(Poisson(1.0), DiscreteMeasure([0.0, 3.0], [0.5, 0.5]))
    >>> law.divergence(np.array([0.0, 3.0])).bend.round(4)
    array([-0.3347, -0.1253])
    """

    def __init__(self, channel: Poisson, law: DiscreteMeasure) -> None:
        self.channel, self.law = channel, law
        self.rates = law.atoms[law.weights > 0] + channel.dark
        self.log_weights = np.log(law.weights[law.weights > 0])
        self._known = np.empty(0)

    @property
    def steepest(self) -> float:
        """A bound on h, and so on the rate at which E h(Y) changes."""
        positive = self.rates[self.rates > 0]
        later = log(positive.max() / positive.min())
        return later if len(positive) == len(self.rates) else max(later, float(self._bends(1)[0]))

    def _bends(self, count: int) -> Array:
        """h(0), ..., h(count - 1)."""
        return np.diff(self._logs(count + 2), 2)

    def _logs(self, count: int) -> Array:
        """g(0), ..., g(count - 1)."""
        if len(self._known) < count:
            y = np.arange(float(count))
            found, at_once = np.empty(count), max(1, _CHUNK // len(self.rates))
            for start in range(0, count, at_once):
                part = slice(start, start + at_once)
                terms = self.log_weights - self.rates + xlogy(y[part, None], self.rates)
                found[part] = np.asarray(logsumexp(terms, axis=1))
            self._known = found
        return self._known[:count]

    def divergence(self, l: Array) -> Bent:
        """D(f(.|l) || q) in nats and a lower bound on D'', at inputs `l (n,)`.

        Each sum is over the counts that `Poisson.output_range` names, for neighbours at once.
        """
        first, last = self.channel.output_range(l)
        most = int(last.max()) + 1
        g, h = self._logs(most), self._bends(most)
        factorial = gammaln(np.arange(1.0, most + 1.0))
        log_q = g - factorial
        order = np.argsort(l, kind="stable")
        value, mean = np.empty(len(l)), np.empty(len(l))
        start = 0
        while start < len(l):
            low = int(first[order[start]])
            # as many neighbours as make the range of counts half as wide again, or fill a table
            wide = 1.5 * (last[order[start]] - low) + 16.0
            stop = start + int(np.searchsorted(last[order[start:]], low + wide, side="right"))
            stop = min(max(stop, start + 1), start + max(1, _CHUNK // int(wide)))
            part, counts = order[start:stop], slice(low, int(last[order[stop - 1]]) + 1)
            rate = l[part, None] + self.channel.dark
            logs = xlogy(np.arange(float(counts.start), float(counts.stop)), rate) - rate
            logs -= factorial[counts]
            with np.errstate(under="ignore"):
                prob = np.exp(logs)
            logs -= log_q[counts]
            finite = np.where(prob > 0.0, logs, 0.0)
            value[part] = np.maximum(np.einsum("ny,ny->n", prob, finite), 0.0)
            mean[part] = prob @ h[counts]
            start = stop
        return Bent(value, -mean)

    def outweighed(self, price: float, level: float) -> float:
        """An input from which on D(f(.|l) || q) - s l^2 <= `level`, s = `price`; inf for none.

        q is no less than its last atom's part w f(.|l_n), of rate R, so that with r = l + dark

            D - s l^2 <= -ln w + r ln(r/R) - r + R - s l^2.

        The right side is concave from r = 1/(2 s) on: where it is low enough there and falls, it
        does so for good.
        """
        last = int(np.argmax(self.rates))
        top, dark = float(self.rates[last]), self.channel.dark
        if not top > 0.0:
            return np.inf
        l = max(top - dark, 0.5 / price - dark, 1e-300) * (1.0 + 1e-9)
        for _ in range(_WIDENINGS):
            rate = l + dark
            fall = log(rate / top) - 2.0 * price * l
            high = rate * log(rate / top) - rate + top - price * l * l
            if fall < 0.0 and high - float(self.log_weights[last]) <= level - 1e-9 * rate:
                return l
            l *= 1.1
        return np.inf

    def error(self, value: Any) -> Any:
        """The error of divergences of that `value`: tails beyond 1e-19, and rounding of logs."""
        rate = float(self.rates.max()) + 100.0
        return (1e-18 + 4e-16 * log(rate)) * rate * (1.0 + value)
