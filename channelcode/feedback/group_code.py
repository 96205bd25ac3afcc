"""What the ordered partition and SED share: a BSC, groups of equal posterior, a partition rule."""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode.channels import BinarySymmetric
from channelcode.errors import InvalidArgument
from channelcode.feedback.groups.partition import Partition
from channelcode.feedback.groups.state import GroupState, group_state
from channelcode.feedback.horstein import binary_crossover
from channelcode.feedback.scheme import LetterScheme, message_count, message_index


class GroupCode(LetterScheme):
    """A code for the BSC that asks at each use whether the message is in a set S1.

    `partition` splits the messages by their posterior. With `systematic=True` the k bits of the
    message are sent first, which is itself a valid sequence of partitions and leaves the words at
    each distance from what was heard as the groups.
    """

    def __init__(self, crossover: float, partition: Partition, *, systematic: bool) -> None:
        self.crossover = binary_crossover(crossover)
        self.partition, self.systematic = partition, bool(systematic)
        self.log_ratio = (log(self.crossover) - log1p(-self.crossover)) / LOG_TWO
        self._begin(BinarySymmetric(self.crossover), np.array([0.0, 1.0]), np.array([0.5, 0.5]))

    def start(self, messages: int | None = None) -> GroupState:
        """The state before the first use; a systematic start needs a power of two messages."""
        if messages is None:
            rule = "must be given: this code has no continuous message (see Horstein)"
            raise InvalidArgument("messages", rule, messages)
        count = message_count(messages)
        if self.systematic and count & (count - 1):
            rule = "must be a power of two for a systematic start, or give systematic=False"
            raise InvalidArgument("messages", rule, messages)
        return group_state(self, count, self.systematic)

    def letter(self, state: GroupState, message: Any) -> int:
        return state.letter(message_index(message, state.messages))

    def induced(self, state: GroupState) -> tuple[float, ...]:
        return state.induced()

    def update(self, state: GroupState, output: int) -> GroupState:
        return state.after(self._output(output))

    def __repr__(self) -> str:
        how = "" if self.systematic else ", systematic=False"
        return f"{type(self).__name__}(crossover={self.crossover!r}{how})"
