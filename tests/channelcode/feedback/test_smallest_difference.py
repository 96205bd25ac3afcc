from __future__ import annotations

import numpy as np
import pytest

from channelcode.feedback import SmallestDifference
from channelcode.feedback.groups.partition import Groups, SmallEnough


def test_a_partition_exists_where_the_strict_rule_has_none():
    """(.4, .2, .2, .2): no set has a difference strictly below its least member."""
    inside = SmallEnough().split(Groups((0, 1), (1, 3), (0.4, 0.6)))
    first = 0.4 * inside[0] + 0.2 * inside[1]
    least = 0.2 if inside[1] else 0.4
    assert 0 <= 2 * first - 1 <= least + 1e-12
    law = np.array([0.4, 0.2, 0.2, 0.2])
    for mask in range(1, 16):
        chosen = np.array([mask >> i & 1 for i in range(4)], dtype=bool)
        difference = law[chosen].sum() - law[~chosen].sum()
        assert not -1e-12 <= difference < law[chosen].min() - 1e-12


def test_a_message_of_more_than_half_is_asked_about_alone():
    scheme = SmallestDifference(0.1)
    state = scheme.start(messages=4)
    for output in (0, 0, 0, 0):
        state = scheme.update(state, output)
    assert state.probability > 0.5
    asked = [i for i in range(4) if scheme.letter(state, i) == 0]
    assert asked == [state.best]


@pytest.mark.parametrize("crossover", [0.05, 0.11, 0.3])
def test_every_message_drifts_by_the_capacity_at_least(crossover):
    """The step of log(rho / (1 - rho)) of the true message has mean C or more."""
    scheme = SmallestDifference(crossover)
    rng = np.random.default_rng(2)
    capacity = scheme.information_bits
    for _ in range(30):
        state = scheme.start(messages=12)
        for output in rng.integers(0, 2, rng.integers(0, 12)):
            state = scheme.update(state, int(output))
        for message in range(12):
            before = state.posterior(message)
            letter, drift = scheme.letter(state, message), 0.0
            for output in (0, 1):
                after = scheme.update(state, output).posterior(message)
                step = np.log2(after / (1 - after)) - np.log2(before / (1 - before))
                drift += (1 - crossover if output == letter else crossover) * step
            assert drift >= capacity - 1e-8  # rho near one: 1 - rho has lost digits
