"""Channels whose outputs are real numbers or counts without end, one file each.

`range` finds where an output law sits, `grid` makes nodes that integrate over it, `view` shows such
a channel as one with finitely many outputs, and `sampling` draws from it.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.channels.densities.additive_gaussian import (
        AdditiveGaussian as AdditiveGaussian,
    )
    from channelcode.channels.densities.additive_laplace import AdditiveLaplace as AdditiveLaplace
    from channelcode.channels.densities.gamma import Exponential as Exponential
    from channelcode.channels.densities.gamma import Gamma as Gamma
    from channelcode.channels.densities.poisson import Poisson as Poisson
else:
    attach(
        __name__,
        {
            "additive_gaussian": "AdditiveGaussian",
            "additive_laplace": "AdditiveLaplace",
            "gamma": "Exponential Gamma",
            "poisson": "Poisson",
        },
    )
