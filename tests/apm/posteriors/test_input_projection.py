"""Which directions of the input a channel sees."""

from __future__ import annotations

import numpy as np
import pytest

from apm.posteriors.input_projection import informative_projection
from channelcode.channels import Features, Logistic, Ordinal, Softmax


def test_channel_behind_features_sees_a_subspace() -> None:
    """`Features` mixes inputs into fewer: what it cannot see is taken out."""
    channel = Features(Logistic(), [[1.0, 2.0]])
    projection = informative_projection(channel)
    np.testing.assert_allclose(projection, np.array([[1, 2], [2, 4]]) / 5, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_softmax_does_not_see_a_common_shift(classes: int) -> None:
    projection = informative_projection(Softmax(classes))
    np.testing.assert_allclose(projection, np.eye(classes) - 1 / classes, atol=1e-12)


def test_the_line_is_seen_whole() -> None:
    for channel in (Logistic(), Ordinal([-1.0, 0.5])):
        np.testing.assert_array_equal(informative_projection(channel), [[1.0]])


def test_it_is_a_projection_that_changes_no_probability(rng: np.random.Generator) -> None:
    mix = rng.normal(size=(3, 5))
    channel = Features(Softmax(3), mix)
    projection = informative_projection(channel)
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-12)
    assert np.trace(projection) == pytest.approx(2.0)  # three logits, less their common shift
    l = rng.normal(size=(6, 5))
    np.testing.assert_allclose(channel.prob(l @ projection), channel.prob(l), atol=1e-6)
