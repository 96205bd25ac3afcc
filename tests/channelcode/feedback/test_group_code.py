"""Groups of equal posterior: both rules against a plain array, and any k without one."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import InvalidArgument
from channelcode.feedback import Confidence, OrderedPartition, SmallestDifference, transmit

CODES = [OrderedPartition, SmallestDifference]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("systematic", [True, False])
@given(st.sampled_from([0.01, 0.05, 0.11, 0.3, 0.45]), st.integers(0, 2**32), st.integers(2, 40))
@settings(max_examples=15)
def test_p7_groups_agree_with_the_plain_array(code, systematic, crossover, seed, size):
    rng = np.random.default_rng(seed)
    messages = 2 ** (size % 5 + 1) if systematic else size
    scheme = code(crossover, systematic=systematic)
    state = scheme.start(messages=messages)
    law = np.full(messages, 1 / messages)
    for _ in range(15):
        letters = np.array([scheme.letter(state, i) for i in range(messages)])
        first = law[letters == 0].sum()
        assert scheme.induced(state)[0] == pytest.approx(first, abs=1e-12)
        assert 0 < letters.sum() < messages
        if code is SmallestDifference and state.time >= (log2(messages) if systematic else 0):
            assert -1e-12 <= 2 * first - 1 <= law[letters == 0].min() + 2e-12
        assert state.probability == pytest.approx(law.max(), abs=1e-12)
        assert state.error_bound == pytest.approx(1 - law.max(), abs=1e-12)
        assert law[state.best] == pytest.approx(law.max(), abs=1e-12)
        assert state.entropy_bits == pytest.approx(-(law * np.log2(law)).sum(), abs=1e-9)
        one = int(rng.integers(messages))
        assert state.posterior(one) == pytest.approx(law[one], rel=1e-9)
        output = int(rng.integers(2))
        law = law * np.where(letters == output, 1 - crossover, crossover)
        law /= law.sum()
        state = scheme.update(state, output)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("bits", [10, 64, 256])
def test_any_number_of_bits_decodes(code, bits):
    message = 3**200 % 2**bits
    run = transmit(code(0.05), message, messages=2**bits, stop=Confidence(1e-3), rng=bits)
    assert run.correct
    assert run.replay() == run
    assert run.rate_bits < 1.0


@pytest.mark.parametrize("code", CODES)
def test_bad_arguments_say_what_to_do(code):
    with pytest.raises(InvalidArgument, match="crossover must lie between 0 and 1/2"):
        code(0.5)
    with pytest.raises(InvalidArgument, match="no continuous message"):
        code(0.1).start()
    with pytest.raises(InvalidArgument, match="power of two"):
        code(0.1, systematic=True).start(messages=12)
    scheme = code(0.1)
    for message in (-1, 8, 0.5):
        with pytest.raises(InvalidArgument, match="message"):
            scheme.encode(scheme.start(messages=8), message)
    with pytest.raises(InvalidArgument, match="output"):
        scheme.update(scheme.start(messages=8), 2)


def test_p9_the_bound_on_the_error_holds_over_many_runs():
    """Mean of the bounds, and of the errors, at most eps; 300 runs at eps = 0.02."""
    wrong, total = 0, 0.0
    for seed in range(400):
        run = transmit(
            OrderedPartition(0.2), seed % 64, messages=64, stop=Confidence(0.02), rng=seed
        )
        assert run.error_bound is not None
        assert run.error_bound <= 0.02
        wrong, total = wrong + (not run.correct), total + run.error_bound
    assert wrong <= total + 4 * np.sqrt(total)  # a sum of independent rare events
