from __future__ import annotations

import numpy as np

from channelcode.feedback import OrderedPartition


def test_the_prefix_nearest_one_half_is_asked_about():
    scheme = OrderedPartition(0.05, systematic=False)
    state = scheme.start(messages=5)
    for output in (0, 1, 1, 0, 0):
        law = np.array([state.posterior(i) for i in range(5)])
        letters = np.array([scheme.letter(state, i) for i in range(5)])
        chosen = law[letters == 0].sum()
        prefixes = np.cumsum(np.sort(law)[::-1])
        assert np.isclose(abs(chosen - 0.5), np.abs(prefixes - 0.5).min(), atol=1e-12)
        assert law[letters == 0].min() >= law[letters == 1].max() - 1e-12
        state = scheme.update(state, output)


def test_systematic_start_sends_the_bits():
    scheme = OrderedPartition(0.05)
    state = scheme.start(messages=16)
    for bit in (1, 0, 1, 1):
        assert scheme.encode(state, 0b1011) == bit
        state = scheme.update(state, bit)
    assert state.best == 0b1011
    assert state.groups.counts == (1, 4, 6, 4, 1)
    assert repr(scheme) == "OrderedPartition(crossover=0.05)"
