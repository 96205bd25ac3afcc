"""Margin sampling: the lead of the likeliest label over the second."""

from __future__ import annotations

import numpy as np
import pytest

from apm.selectors import Margin
from channelcode.channels import Logistic
from tests.apm.given import given_belief

# rows on which the three rules disagree: two rivals, one of three, nearly certain, certain
LAWS = np.array([[0.5, 0.5, 0.0], [0.4, 0.32, 0.28], [0.9, 0.06, 0.04], [0.0, 1.0, 0.0]])
X = np.zeros((4, 1))


@pytest.fixture
def laws(monkeypatch):
    """The selector reads `LAWS`, whatever the belief."""
    monkeypatch.setattr(Margin, "probabilities", lambda self, belief, X, rng: LAWS)


def test_score_is_the_negative_lead(laws):
    belief = given_belief([1.0], [[1.0]])
    np.testing.assert_allclose(Margin().scores(belief, X), [0.0, -0.08, -0.84, -1.0], atol=1e-15)
    assert Margin().select(belief, X, n=1).tolist() == [0]


def test_two_labels_are_a_hyperbolic_tangent():
    """p - (1 - p) = tanh(l / 2) for the logistic channel."""
    belief = given_belief([1.0], [[1.0]], map=[2.0], channel=Logistic())
    pool = np.array([[-3.0], [0.0], [0.4], [20.0]])
    expected = -np.abs(np.tanh(pool[:, 0]))
    np.testing.assert_allclose(Margin().scores(belief, pool), expected, atol=1e-15)
