"""Channels whose outputs are real numbers or counts without end, one file each.

`range` finds where an output law sits, `grid` makes nodes that integrate over it, `view` shows such
a channel as one with finitely many outputs, and `sampling` draws from it.
"""

from channelcode.channels.densities.additive_gaussian import AdditiveGaussian
from channelcode.channels.densities.additive_laplace import AdditiveLaplace
from channelcode.channels.densities.gamma import Exponential, Gamma
from channelcode.channels.densities.poisson import Poisson

__all__ = ["AdditiveGaussian", "AdditiveLaplace", "Exponential", "Gamma", "Poisson"]
