"""The exact error of the Burnashev-Zigangirov scheme, by following every answer and every draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.errors import InvalidArgument
from channelcode.feedback.burnashev_zigangirov import median_bin

_PLACES = 11  # decimal places to which laws and joint masses are the same


def exact_error(scheme: Any, uses: int, most: int) -> float:
    """P(working median's bin is wrong) after `uses` questions, for a uniform message.

    Beside each working law goes the joint mass of (these answers and draws, bin), `(bins,)`.
    """
    bins, e = scheme.bins, scheme.crossover
    uniform = np.full(bins, 1.0 / bins)
    alive: dict[bytes, tuple[Array, Array]] = {b"": (uniform, uniform)}
    for _ in range(uses):
        following: dict[bytes, tuple[Array, Array]] = {}
        for law, joint in alive.values():
            for query, chance in scheme.choices(law):
                if chance <= 0.0:
                    continue
                left = np.arange(bins) < query
                for output in (0, 1):
                    heard = joint * chance * np.where(left == (output == 0), 1 - e, e)
                    after = scheme.reweighted(law, query, output)
                    key = np.round(after, _PLACES).tobytes()
                    held = following.get(key)
                    following[key] = (after, heard if held is None else held[1] + heard)
        if len(following) > most:
            rule = f"must be smaller: more than {most} laws to follow; simulate with transmit"
            raise InvalidArgument("uses", rule, uses)
        alive = following
    return float(sum(joint.sum() - joint[median_bin(law)] for law, joint in alive.values()))
