"""Least confidence sampling: what the likeliest label leaves."""

from __future__ import annotations

import numpy as np
import pytest

from apm.selectors import LeastConfidence
from channelcode.channels import Logistic
from tests.apm.given import given_belief

# rows on which the three rules disagree: two rivals, one of three, nearly certain, certain
LAWS = np.array([[0.5, 0.5, 0.0], [0.4, 0.32, 0.28], [0.9, 0.06, 0.04], [0.0, 1.0, 0.0]])
X = np.zeros((4, 1))


@pytest.fixture
def laws(monkeypatch):
    """The selector reads `LAWS`, whatever the belief."""
    monkeypatch.setattr(LeastConfidence, "probabilities", lambda self, belief, X, rng: LAWS)


def test_score_is_what_the_likeliest_label_leaves(laws):
    belief = given_belief([1.0], [[1.0]])
    scores = LeastConfidence().scores(belief, X)
    np.testing.assert_allclose(scores, [0.5, 0.6, 0.1, 0.0], atol=1e-15)
    assert LeastConfidence().select(belief, X, n=1).tolist() == [1]


def test_two_labels_are_the_smaller_probability():
    belief = given_belief([1.0], [[1.0]], map=[2.0], channel=Logistic())
    pool = np.array([[-3.0], [0.0], [0.4], [20.0]])
    expected = 1 / (1 + np.exp(np.abs(2 * pool[:, 0])))
    np.testing.assert_allclose(LeastConfidence().scores(belief, pool), expected, atol=1e-15)
