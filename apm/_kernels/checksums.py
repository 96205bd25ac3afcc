"""Sums of a tile by which it is known again."""

import numpy as np

from channelcode._kernels.jit import kernel

SEGMENT = 512  # words that are added up together


@kernel
def segment_sums(words, weight):
    """sum_k (2k + 1) weight s_k modulo 2^64, s_k the sum of the k-th segment of `words` `(n,)`.

    All are of 64 bits without a sign; words behind the last whole segment are left out.
    """
    total, factor = np.uint64(0), weight
    for k in range(len(words) // SEGMENT):
        part = np.uint64(0)
        for i in range(SEGMENT):
            part += np.uint64(words[k * SEGMENT + i])
        total += part * factor
        factor += weight + weight
    return total
