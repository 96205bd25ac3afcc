"""EPIG: the mean information between the label of a candidate and those of the targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import Sampled
from apm.selectors import EPIG, InformationGain
from apm.selectors.draws import inputs_at, parameter_draws
from channelcode.errors import InvalidArgument
from tests.apm.given import entropy_bits, given_belief, three_classes


@pytest.mark.parametrize("classes", [2, 3])
def test_epig_is_the_mean_information_between_labels(classes):
    if classes == 3:
        belief, X = three_classes()
    else:
        belief, X = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]]), np.eye(2) * 2
    targets = np.array([[1.0, 0.5], [-0.3, 2.0]])
    scores = EPIG(samples=20, targets=targets).scores(belief, X, rng=9)
    theta = parameter_draws(belief, 20, np.random.default_rng(9))
    here = belief.channel.prob(inputs_at(belief, X, theta))
    there = belief.channel.prob(inputs_at(belief, targets, theta))
    for x in range(len(X)):
        total = 0.0
        for t in range(len(targets)):
            joint = np.mean([np.outer(here[x, s], there[t, s]) for s in range(20)], axis=0)
            first, second = joint.sum(axis=1), joint.sum(axis=0)
            total += entropy_bits(first) + entropy_bits(second) - entropy_bits(joint.ravel())
        assert scores[x] == pytest.approx(total / len(targets), abs=1e-12)


def test_epig_prefers_what_tells_about_the_targets():
    belief = given_belief([0.0, 0.0], np.eye(2))
    X = np.array([[3.0, 0.0], [0.0, 3.0]])
    scores = EPIG(samples=400, targets=[[2.0, 0.0]]).scores(belief, X, rng=0)
    assert scores[0] > 10 * scores[1]


def test_epig_in_pieces_is_epig_in_one(monkeypatch):
    belief, X = three_classes()
    selector = EPIG(samples=20, num_targets=5)
    whole = selector.scores(belief, X, rng=9)
    monkeypatch.setattr("apm.selectors.rules.epig.CHUNK_ENTRIES", 100)
    np.testing.assert_allclose(selector.scores(belief, X, rng=9), whole, rtol=1e-12)


def test_targets_of_the_pool_are_drawn_without_repetition():
    belief = given_belief([0.5, 0.1], np.eye(2))
    X = np.random.default_rng(3).normal(size=(6, 2))
    all_of_them = EPIG(samples=40, num_targets=50).scores(belief, X, rng=1)
    generator = np.random.default_rng(1)
    order = generator.choice(6, size=6, replace=False)
    theta = parameter_draws(belief, 40, generator)
    here = 1 / (1 + np.exp(-X @ theta.T))
    for x in range(6):
        total = 0.0
        for t in order:
            joint = np.array([[np.mean(a * b) for b in (here[t], 1 - here[t])]
                              for a in (here[x], 1 - here[x])])  # fmt: skip
            total += entropy_bits(joint.sum(axis=1)) + entropy_bits(joint.sum(axis=0))
            total -= entropy_bits(joint.ravel())
        assert all_of_them[x] == pytest.approx(total / 6, abs=1e-12)


def test_never_more_than_the_information_about_the_parameters():
    """Data processing: the other label knows of this one only through theta, draw by draw."""
    belief, X = three_classes()
    epig = EPIG(samples=80, targets=X[:4]).scores(belief, X, rng=2)
    gain = InformationGain(samples=80).scores(belief, X, rng=2)  # the same draws
    assert np.all(epig <= gain + 1e-12)


def test_draws_of_a_posterior_are_taken_as_they_are():
    pytest.importorskip("polyagamma")
    X = np.random.default_rng(3).normal(size=(6, 2))
    belief = Belief(Sampled(samples=50, burn_in=10).fit(X, [0, 1, 0, 1, 1, 0]))
    first, second = (EPIG(targets=X[:2]).scores(belief, X, rng=seed) for seed in (0, 1))
    np.testing.assert_array_equal(first, second)
    theta = belief.posterior.samples  # type: ignore[attr-defined]
    here = belief.channel.prob(X @ theta.T)
    joint = np.einsum("sa,sb->ab", here[0], here[1]) / len(theta)
    expected = [entropy_bits(joint.sum(axis=1)) + entropy_bits(joint.sum(axis=0))]
    (alone,) = EPIG(targets=X[1:2]).scores(belief, X[:1])
    assert alone == pytest.approx(expected[0] - entropy_bits(joint.ravel()), abs=1e-12)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_targets": 0}, "num_targets"),
        ({"targets": [1.0, 2.0]}, "targets must have two axes"),
        ({"targets": [[np.nan]]}, "row 0, column 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(InvalidArgument, match=message):
        EPIG(**options)


def test_targets_of_another_width_are_refused():
    with pytest.raises(InvalidArgument, match="targets must have 2 columns"):
        EPIG(targets=np.ones((4, 3))).scores(given_belief([0.5, 0.1], np.eye(2)), np.eye(2))


def test_one_target_is_enough():
    belief = given_belief([0.7, -0.4], [[2.0, 0.3], [0.3, 1.0]])
    scores = EPIG(samples=20, num_targets=1).scores(belief, np.eye(2), rng=1)
    assert np.isfinite(scores).all()
