"""Channels p(y | l): a label's law given the channel input."""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.channels.base import Channel as Channel
    from channelcode.channels.base import Derivatives as Derivatives
    from channelcode.channels.binomial import Binomial as Binomial
    from channelcode.channels.densities import AdditiveGaussian as AdditiveGaussian
    from channelcode.channels.densities import AdditiveLaplace as AdditiveLaplace
    from channelcode.channels.densities import Exponential as Exponential
    from channelcode.channels.densities import Gamma as Gamma
    from channelcode.channels.densities import Poisson as Poisson
    from channelcode.channels.discrete import BinaryErasure as BinaryErasure
    from channelcode.channels.discrete import BinarySymmetric as BinarySymmetric
    from channelcode.channels.discrete import DiscreteChannel as DiscreteChannel
    from channelcode.channels.discrete import ZChannel as ZChannel
    from channelcode.channels.discrete import restrict as restrict
    from channelcode.channels.lapse import Lapse as Lapse
    from channelcode.channels.lapse import UnknownGuess as UnknownGuess
    from channelcode.channels.lapse import UnknownLapse as UnknownLapse
    from channelcode.channels.links.cauchit import Cauchit as Cauchit
    from channelcode.channels.links.cloglog import Cloglog as Cloglog
    from channelcode.channels.links.link import Link as Link
    from channelcode.channels.links.logistic import Logistic as Logistic
    from channelcode.channels.links.probit import Probit as Probit
    from channelcode.channels.mapped.features import Features as Features
    from channelcode.channels.mapped.recentred import Recentred as Recentred
    from channelcode.channels.ordinal import Ordinal as Ordinal
    from channelcode.channels.quantised import QuantisedGaussian as QuantisedGaussian
    from channelcode.channels.softmax import Softmax as Softmax
    from channelcode.channels.support import Counts as Counts
    from channelcode.channels.support import Interval as Interval
    from channelcode.channels.tails import Landmark as Landmark
    from channelcode.channels.tails import Tails as Tails
else:
    attach(
        __name__,
        {
            "base": "Channel Derivatives",
            "binomial": "Binomial",
            "densities": "AdditiveGaussian AdditiveLaplace Exponential Gamma Poisson",
            "discrete": "BinaryErasure BinarySymmetric DiscreteChannel ZChannel restrict",
            "lapse": "Lapse UnknownGuess UnknownLapse",
            "links.cauchit": "Cauchit",
            "links.cloglog": "Cloglog",
            "links.link": "Link",
            "links.logistic": "Logistic",
            "links.probit": "Probit",
            "mapped.features": "Features",
            "mapped.recentred": "Recentred",
            "ordinal": "Ordinal",
            "quantised": "QuantisedGaussian",
            "softmax": "Softmax",
            "support": "Counts Interval",
            "tails": "Landmark Tails",
        },
    )
