"""D(f(.|l) || q) for Poisson counts and a law with finitely many atoms, and how it bends."""

from __future__ import annotations

from math import log

import numpy as np
from scipy.special import logsumexp, xlogy

from channelcode._validation import Array
from channelcode.channels import Poisson
from channelcode.information.mixtures.location import Bent
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure

_CHUNK = 1_000_000


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

    @property
    def steepest(self) -> float:
        """A bound on h, and so on the rate at which E h(Y) changes."""
        positive = self.rates[self.rates > 0]
        later = log(positive.max() / positive.min())
        return later if len(positive) == len(self.rates) else max(later, float(self._bends(1)[0]))

    def _bends(self, count: int) -> Array:
        """h(0), ..., h(count - 1)."""
        y = np.arange(count + 2.0)
        terms = self.log_weights - self.rates + xlogy(y[:, None], self.rates)
        return np.diff(np.asarray(logsumexp(terms, axis=1)), 2)

    def divergence(self, l: Array) -> Bent:
        """D(f(.|l) || q) in nats and a lower bound on D'', at inputs `l (n,)`."""
        value = output_divergence(self.channel, l, self.law).nats
        _, high = self.channel.output_range(np.append(l, self.rates.max() - self.channel.dark))
        y = np.arange(float(high.max()) + 1.0)
        h = self._bends(len(y))
        mean = np.empty(len(l))
        at_once = max(1, _CHUNK // len(y))
        for start in range(0, len(l), at_once):
            part = slice(start, start + at_once)
            mean[part] = np.exp(self.channel.log_density(y, l[part, None])) @ h
        return Bent(value, -mean)

    def error(self, largest: float) -> float:
        """The error of divergences up to `largest`: tails beyond 1e-19, and rounding of logs."""
        rate = float(self.rates.max()) + 100.0
        return (1e-18 + 4e-16 * log(rate)) * rate * (1.0 + largest)
