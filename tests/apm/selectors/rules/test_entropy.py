"""Entropy sampling: how uncertain the label is, in bits."""

from __future__ import annotations

import numpy as np
import pytest

from apm.selectors import Entropy
from channelcode.channels import Logistic
from tests.apm.given import entropy_bits, given_belief

# rows on which the three rules disagree: two rivals, one of three, nearly certain, certain
LAWS = np.array([[0.5, 0.5, 0.0], [0.4, 0.32, 0.28], [0.9, 0.06, 0.04], [0.0, 1.0, 0.0]])
X = np.zeros((4, 1))


@pytest.fixture
def laws(monkeypatch):
    """The selector reads `LAWS`, whatever the belief."""
    monkeypatch.setattr(Entropy, "probabilities", lambda self, belief, X, rng: LAWS)


def test_score_is_the_entropy_in_bits(laws):
    belief = given_belief([1.0], [[1.0]])
    scores = Entropy().scores(belief, X)
    np.testing.assert_allclose(scores, [entropy_bits(law) for law in LAWS], atol=1e-15)
    assert scores[0] == 1.0
    assert scores[3] == 0.0
    assert Entropy().select(belief, X, n=1).tolist() == [1]


def test_two_labels_are_the_binary_entropy():
    belief = given_belief([1.0], [[1.0]], map=[2.0], channel=Logistic())
    pool = np.array([[-3.0], [0.0], [0.4], [500.0]])
    p = 1 / (1 + np.exp(-2 * pool[:3, 0]))
    scores = Entropy().scores(belief, pool)
    expected = [entropy_bits([q, 1 - q]) for q in p]
    np.testing.assert_allclose(scores[:3], expected, rtol=1e-12)
    assert scores[3] == 0.0  # the probability of the other label underflows
