"""The combinatorial number system: words of k bits and weight d, numbered 0 .. C(k, d) - 1."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache


@lru_cache(maxsize=64)
def weight_counts(k: int) -> tuple[int, ...]:
    """C(k, d) for d = 0 .. k.

    >>> weight_counts(4)
    (1, 4, 6, 4, 1)
    """
    counts = [1]
    for d in range(k):
        counts.append(counts[-1] * (k - d) // (d + 1))
    return tuple(counts)


@lru_cache(maxsize=64)
def weight_starts(k: int) -> tuple[int, ...]:
    """How many words have a weight below d, for d = 0 .. k + 1."""
    starts = [0]
    for count in weight_counts(k):
        starts.append(starts[-1] + count)
    return tuple(starts)


@lru_cache(maxsize=256)
def place_of(word: int, k: int) -> int:
    """The place of a word among all words of k bits, ordered by weight and then by rank.

    The rank of the word with ones at p_1 < ... < p_d is C(p_1, 1) + ... + C(p_d, d).

    >>> [place_of(word, 3) for word in range(8)]
    [0, 1, 2, 4, 3, 5, 6, 7]
    """
    rank, ones, binomial = 0, 0, 1  # binomial = C(position, ones)
    for position in range(word.bit_length()):
        if word >> position & 1:
            rank += binomial * (position - ones) // (ones + 1)
            binomial = binomial * (position + 1) // (ones + 1)
            ones += 1
        else:
            binomial = binomial * (position + 1) // (position + 1 - ones)
    return weight_starts(k)[ones] + rank


@lru_cache(maxsize=256)
def word_at(place: int, k: int) -> int:
    """The word at a place: the inverse of `place_of`.

    >>> [word_at(place, 3) for place in range(8)]
    [0, 1, 2, 4, 3, 5, 6, 7]
    """
    weight = bisect_right(weight_starts(k), place) - 1
    rank = place - weight_starts(k)[weight]
    word, left, binomial = 0, weight, weight_counts(k)[weight]  # binomial = C(position + 1, left)
    for position in range(k - 1, -1, -1):
        if left == 0:
            break
        without = binomial * (position + 1 - left) // (position + 1)
        if rank < without:
            binomial = without
        else:
            word |= 1 << position
            rank -= without
            binomial = binomial * left // (position + 1)
            left -= 1
    return word
