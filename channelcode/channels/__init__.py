"""Channels p(y | l): a label's law given the channel input."""

from channelcode.channels.base import Channel, Derivatives
from channelcode.channels.binomial import Binomial
from channelcode.channels.cauchit import Cauchit
from channelcode.channels.cloglog import Cloglog
from channelcode.channels.discrete import (
    BinaryErasure,
    BinarySymmetric,
    DiscreteChannel,
    ZChannel,
    restrict,
)
from channelcode.channels.features import Features
from channelcode.channels.lapse import Lapse
from channelcode.channels.link import Link
from channelcode.channels.logistic import Logistic
from channelcode.channels.ordinal import Ordinal
from channelcode.channels.probit import Probit
from channelcode.channels.quantised import QuantisedGaussian
from channelcode.channels.softmax import Softmax
from channelcode.channels.tails import Landmark, Tails

__all__ = [
    "BinaryErasure",
    "BinarySymmetric",
    "Binomial",
    "Cauchit",
    "Channel",
    "Cloglog",
    "Derivatives",
    "DiscreteChannel",
    "Features",
    "Landmark",
    "Lapse",
    "Link",
    "Logistic",
    "Ordinal",
    "Probit",
    "QuantisedGaussian",
    "Softmax",
    "Tails",
    "ZChannel",
    "restrict",
]
