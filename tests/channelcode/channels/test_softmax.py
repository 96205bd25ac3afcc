"""The softmax channel: exact for certain classes too, blind to shifts."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from channelcode import InvalidArgument, Logistic, Softmax
from tests.channelcode.channels.tails import logs

logits = arrays(np.float64, 4, elements=st.floats(-50, 50))


@pytest.mark.parametrize("scale", [1.0, 40.0, 1e3, 1e4])
def test_tails(rng, scale):
    for l in scale * rng.uniform(-1, 1, (5, 4)):
        with mpmath.workdps(60):
            powers = [mpmath.exp(mpmath.mpf(float(x))) for x in l]
            wanted = logs([p / mpmath.fsum(powers) for p in powers])
        np.testing.assert_allclose(Softmax(4).log_prob(l), wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("other", [0.0, 3.0, -1e3])
def test_two_classes_are_logistic_in_the_difference(other):
    l = np.concatenate([np.linspace(-60, 60, 241), [-1e4, -700.0, 700.0, 1e4]])
    pairs = np.stack([np.full_like(l, other), l + other], axis=-1)
    difference = pairs[:, 1] - pairs[:, 0]
    np.testing.assert_allclose(
        Softmax(2).log_prob(pairs), Logistic().log_prob(difference), rtol=1e-12, atol=0
    )


@given(logits, st.floats(-100, 100))
def test_a_common_shift_changes_nothing(l, shift):
    # the shift itself rounds: by 1e-14 for numbers up to 150
    np.testing.assert_allclose(Softmax(4).log_prob(l + shift), Softmax(4).log_prob(l), atol=1e-12)


@given(logits, st.permutations(range(4)))
def test_classes_may_be_renamed(l, order):
    # sums in another order differ by rounding
    renamed = Softmax(4).log_prob(l[list(order)])
    np.testing.assert_allclose(renamed, Softmax(4).log_prob(l)[list(order)], rtol=1e-14, atol=1e-15)


@given(logits)
def test_score_identities(l):
    p, (g, h) = Softmax(4).prob(l), Softmax(4).derivatives(l)
    np.testing.assert_allclose(p @ g, 0, atol=1e-15)
    spread = np.einsum("y,yi,yj->ij", p, g, g)
    np.testing.assert_allclose(np.einsum("y,yij->ij", p, h) + spread, 0, atol=1e-15)


@pytest.mark.parametrize("bad", [1, 0, -3, 2.0, "3", None, True])
def test_bad_number_of_classes(bad):
    with pytest.raises(InvalidArgument, match=r"^num_classes must be"):
        Softmax(bad)
