"""SED, the smallest-enough-difference code (Naghshvar, Javidi and Wigger) for the BSC."""

from __future__ import annotations

from channelcode.feedback.group_code import GroupCode
from channelcode.feedback.groups.partition import SmallEnough


class SmallestDifference(GroupCode):
    """Split the messages so that 0 <= P(S0) - P(S1) <= the least probability in S0.

    The rule gives every message a drift of at least C per use, which proves the bound on the mean
    number of uses that `bounds` returns. Messages without mass are left out of the minimum.

    >>> from channelcode.feedback import Confidence, transmit
    >>> transmit(SmallestDifference(0.05), 5, messages=8, stop=Confidence(1e-3), rng=0).decoded
    5
    """

    def __init__(self, crossover: float, *, systematic: bool = False) -> None:
        super().__init__(crossover, SmallEnough(), systematic=systematic)
