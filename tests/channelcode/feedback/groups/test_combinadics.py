from __future__ import annotations

from math import comb

import numpy as np
import pytest

from channelcode.feedback.groups.combinadics import place_of, weight_counts, weight_starts, word_at
from channelcode.feedback.groups.partition import Ordered, SmallEnough, groups_of, others
from channelcode.feedback.groups.state import divided, joined


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_words_in_order_of_weight_and_back(k):
    places = [place_of(word, k) for word in range(2**k)]
    assert sorted(places) == list(range(2**k))
    assert [word_at(place, k) for place in places] == list(range(2**k))
    weights = [word_at(place, k).bit_count() for place in range(2**k)]
    assert weights == sorted(weights)
    assert weight_counts(k) == tuple(comb(k, d) for d in range(k + 1))
    assert weight_starts(k)[-1] == 2**k


def test_long_words():
    word = 3**600 % 2**512
    assert word_at(place_of(word, 512), 512) == word


def test_ranges():
    assert divided(((0, 3), (7, 9)), 0) == ((), ((0, 3), (7, 9)))
    assert divided(((0, 3), (7, 9)), 5) == (((0, 3), (7, 9)), ())
    assert joined(((0, 3),), ((3, 5), (8, 9))) == ((0, 5), (8, 9))


def test_groups_far_beyond_floats():
    groups = groups_of(range(4097), weight_counts(4096), np.log2(0.11 / 0.89))
    assert sum(groups.masses) == pytest.approx(1.0)
    for rule in (Ordered(), SmallEnough()):
        inside = rule.split(groups)
        first = sum(m * (i / c) for m, i, c in zip(groups.masses, inside, groups.counts))
        assert first == pytest.approx(0.5, abs=1e-12)
    assert others(groups_of((0, 1), (1, 3), -60.0)) == pytest.approx(3 * 2.0**-60, rel=1e-12)
