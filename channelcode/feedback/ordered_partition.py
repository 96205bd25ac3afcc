"""The ordered partition (Antonini, Gimelshein and Wesel) for the binary symmetric channel."""

from __future__ import annotations

from channelcode.feedback.group_code import GroupCode
from channelcode.feedback.groups.partition import Ordered


class OrderedPartition(GroupCode):
    """Sort the messages by their posterior; S0 is the prefix whose mass is nearest to one half.

    One group of equally probable messages is split per use, so the groups are the whole state: a
    full encoder and decoder for any k without a list of 2^k messages.

    >>> from channelcode.feedback import Confidence, transmit
    >>> run = transmit(OrderedPartition(0.05), 9, messages=2**64, stop=Confidence(1e-3), rng=0)
    >>> run.decoded, run.rate_bits > 0.6
    (9, True)
    """

    def __init__(self, crossover: float, *, systematic: bool = True) -> None:
        super().__init__(crossover, Ordered(), systematic=systematic)
