from __future__ import annotations

import numpy as np
import pytest

from channelcode import InvalidArgument
from channelcode.feedback import Horstein, LetterScheme, OrderedPartition, Scheme
from channelcode.feedback.scheme import message_count, message_index
from tests.channelcode.feedback.oracles import mutual_information


def test_laws_of_a_letter_scheme():
    scheme = Horstein(0.2)
    assert isinstance(scheme, LetterScheme)
    assert isinstance(OrderedPartition(0.2), Scheme)
    np.testing.assert_allclose(scheme.output, [0.5, 0.5])
    full = mutual_information(np.array([0.5, 0.5]), scheme.matrix)
    assert scheme.information_bits == pytest.approx(full, abs=1e-14)
    laws = np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    gains = [mutual_information(law, scheme.matrix) for law in laws]
    np.testing.assert_allclose(scheme.gain_bits(laws), gains, atol=1e-14)
    np.testing.assert_allclose(scheme.loss_bits(laws), full - np.array(gains), atol=1e-14)


def test_responses_have_the_law_of_the_channel():
    scheme, rng = Horstein(0.2), np.random.default_rng(0)
    heard = [scheme.respond(1.0, rng) for _ in range(2000)]
    assert abs(np.mean(heard) - 0.8) < 5 * np.sqrt(0.16 / 2000)


def test_counts_and_indices():
    assert message_count(np.int64(2)) == 2
    assert message_index(np.int64(3), 2**70) == 3
    with pytest.raises(InvalidArgument, match=r"message must be one of 0\.\.7, got 8"):
        message_index(8, 8)
    with pytest.raises(InvalidArgument, match="messages has 71 bits"):
        message_index(2**70, 2**70)
