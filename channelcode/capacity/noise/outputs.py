"""Outputs as the exchange of letters sees them: panels for Laplace noise, sums for counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from channelcode._validation import Array
from channelcode.channels import AdditiveLaplace, Poisson
from channelcode.channels.densities.view import FiniteView
from channelcode.information.mixtures.laplace import LaplaceMixture, laplace_rows
from channelcode.information.mixtures.poisson import PoissonMixture
from channelcode.measures import DiscreteMeasure


@dataclass(frozen=True)
class LaplaceOutputs:
    """Laplace noise for the exchange: corners at the letters are the ends of panels."""

    channel: AdditiveLaplace

    def rows(self, letters: Array) -> Array:
        """Panels between the letters, and either tail as one output."""
        return laplace_rows(self.channel.scale, letters)

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """To rounding; the shift does not matter to additive noise."""
        return LaplaceMixture(self.channel.scale, points, weights).divergence(inputs).value


@dataclass(frozen=True)
class CountedOutputs:
    """Poisson counts for the exchange: sums over the counts that matter to each input."""

    channel: Poisson
    view: FiniteView

    def rows(self, letters: Array) -> Array:
        """The view's own matrix."""
        return self.view.prob(letters)

    def divergence(self, inputs: Array, points: Array, weights: Array) -> Array:
        """As the judge computes it."""
        law = DiscreteMeasure(self.view.shift + points, weights / weights.sum())
        least = -self.view.shift  # no light is the least input; rounding may be below
        moved = np.maximum(inputs, least) + self.view.shift
        return PoissonMixture(self.channel, law).divergence(np.maximum(moved, 0.0)).value

    def letters(self) -> Array:
        """One deviation of the count apart: evenly in its root."""
        dark = self.channel.dark
        first, last = float(np.sqrt(dark)), float(np.sqrt(dark + 2.0 * self.view.reach))
        count = max(int(np.ceil(2.0 * (last - first))), 32)
        places = np.linspace(first, last, count + 1) ** 2 - dark
        return np.maximum(places, 0.0) - self.view.shift
