"""Channels p(y | l): a label's law given the channel input."""

from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.binomial import Binomial
from channelcode.channels.densities import (
    AdditiveGaussian,
    AdditiveLaplace,
    Exponential,
    Gamma,
    Poisson,
)
from channelcode.channels.discrete import (
    BinaryErasure,
    BinarySymmetric,
    DiscreteChannel,
    ZChannel,
    restrict,
)
from channelcode.channels.lapse import Lapse, UnknownGuess, UnknownLapse
from channelcode.channels.links.cauchit import Cauchit
from channelcode.channels.links.cloglog import Cloglog
from channelcode.channels.links.link import Link
from channelcode.channels.links.logistic import Logistic
from channelcode.channels.links.probit import Probit
from channelcode.channels.mapped.features import Features
from channelcode.channels.mapped.recentred import Recentred
from channelcode.channels.ordinal import Ordinal
from channelcode.channels.quantised import QuantisedGaussian
from channelcode.channels.softmax import Softmax
from channelcode.channels.support import Counts, Interval
from channelcode.channels.tails import Landmark, Tails

__all__ = [
    "AdditiveGaussian",
    "AdditiveLaplace",
    "BinaryErasure",
    "BinarySymmetric",
    "Binomial",
    "Cauchit",
    "Channel",
    "Cloglog",
    "Counts",
    "Derivatives",
    "DiscreteChannel",
    "Exponential",
    "Features",
    "Gamma",
    "Interval",
    "Landmark",
    "Lapse",
    "Link",
    "Logistic",
    "Ordinal",
    "Poisson",
    "Probit",
    "QuantisedGaussian",
    "Recentred",
    "Softmax",
    "Tails",
    "UnknownGuess",
    "UnknownLapse",
    "ZChannel",
    "restrict",
]
