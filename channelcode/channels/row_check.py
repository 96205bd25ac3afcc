"""One check of the laws that a user's channel gives, on the inputs that a result rests on."""

from __future__ import annotations

import sys
from functools import lru_cache

import numpy as np

from channelcode._validation import Array
from channelcode.channels.base import Channel
from channelcode.errors import InvalidArgument

ROW_SUM_ATOL = 1e-9  # log-probabilities of many outputs, each to rounding, summed


def is_builtin(channel: Channel) -> bool:
    """True for a channel of this library, all its parts included: its rows are laws by design."""
    if not _is_of_the_library(type(channel)):
        return False
    for name in ("channel", "link"):
        part = getattr(channel, name, None)
        if isinstance(part, Channel) and not is_builtin(part):
            return False
    return True


@lru_cache(maxsize=256)
def _is_of_the_library(kind: type) -> bool:
    if not kind.__module__.startswith("channelcode.channels."):
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def check_rows(channel: Channel, l: Array, log_rows: Array) -> None:
    """Refuse log-probabilities `(..., num_outputs)` at inputs `l` that are not laws of the output.

    Each must be at most 0 and no NaN, and their exponentials must sum to one within 1e-9. The
    error names the first input that breaks the rule, and the sum there. Channels of this library
    are not checked again.

    >>> import numpy as np
    >>> from channelcode import Channel
    >>> class Forgot(Channel):
    ...     dim, num_outputs = 1, 2
    ...     def log_prob(self, l):
    ...         return np.full((*l.shape, 2), -1.0)
    >>> check_rows(Forgot(), np.array([0.5]), Forgot().log_prob([0.5]))
    Traceback (most recent call last):
        ...
    channelcode.errors.InvalidArgument: Forgot.log_prob must give probabilities that sum to one...
    """
    if is_builtin(channel):
        return
    with np.errstate(over="ignore", under="ignore"):
        total = np.exp(log_rows).sum(axis=-1)
    wrong = ~(np.abs(total - 1.0) <= ROW_SUM_ATOL)  # also NaN
    if not wrong.any():
        return
    place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    shown = np.asarray(l)[place].tolist()
    name = f"{type(channel).__name__}.log_prob"
    largest = float(np.max(log_rows[place]))
    if np.isnan(total[place]) or largest > ROW_SUM_ATOL:
        rule = "must give log-probabilities, none of them NaN or above 0"
        raise InvalidArgument(name, rule, f"{log_rows[place].tolist()} at l = {shown}")
    rule = "must give probabilities that sum to one"
    raise InvalidArgument(name, rule, f"a sum of {float(total[place])!r} at l = {shown}")


def checked_log_prob(channel: Channel, l: Array) -> Array:
    """`channel.log_prob(l)`, once `check_rows` has passed it."""
    log_rows = channel.log_prob(l)
    check_rows(channel, l, log_rows)
    return log_rows
