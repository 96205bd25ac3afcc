"""Looks at a table of informations, whose steps are those of the bits of a double."""

import numpy as np

from channelcode._kernels.jit import kernel

BEYOND = np.finfo(np.float64).max


@kernel
def places_of(variance, known, least, most, shift, first):
    """The columns that bound variances `(n,)`: the ends of their steps; -1 beyond the last.

    And how many of these rows have one that is not `known` `(c,)`.

    Steps are in the order of their numbers, the first `shift` bits left out; one that is no number
    is beyond.
    """
    n, last, missing = len(variance), len(known) - 1, 0
    near, places = np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        near[i] = max(variance[i], least)
    bits = near.view(np.int64)
    for i in range(n):
        place = min(max((bits[i] >> shift) - first, 0), last - 1) + 1
        inside = variance[i] <= most
        missing += inside and not known[place]
        places[i] = place if inside else -1
    return places, missing


@kernel
def looked_up(size, places, ends, values, finest, farthest, shift, start):
    """What no mean of these sizes `(n,)` or larger gains by the columns `places` of `values`.

    `ends` are the variances of the columns; the rows are steps of `1 + m^2 / (1 + v) / finest`,
    from `start` on. Beyond the last column nothing is known.
    """
    n, last = len(size), values.shape[1] - 1
    ratio, found = np.empty(n), np.empty(n)
    for i in range(n):
        part = size[i] * size[i] / (1.0 + ends[max(places[i], 0)])
        part = part if part >= 0.0 else 0.0  # no number says nothing
        ratio[i] = 1.0 + (part if part < farthest else farthest) * (1.0 / finest)
    bits = ratio.view(np.int64)
    for i in range(n):
        row = min(max((bits[i] >> shift) - start, 0), last)
        found[i] = values[places[i], row] if places[i] >= 0 else BEYOND
    return found
