"""The contract of a selector: the library's own pass, each mistake is named."""

from __future__ import annotations

import numpy as np
import pytest

import channelcode.testing
from apm import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    Belief,
    Bohning,
    InformationGain,
    Margin,
    Random,
    Selector,
)
from apm.testing import check_selector


@pytest.mark.parametrize(
    "selector",
    [APM(), InformationGain(), BALD(), Margin(), Random(), EPIG(samples=50, num_targets=10)],
    ids=repr,
)
def test_the_librarys_own_pass(selector):
    check_selector(selector)


def test_a_belief_of_your_own():
    X = np.random.default_rng(1).normal(size=(24, 2))
    every = APM(channel=AllClasses())
    check_selector(every, Belief(Bohning(3, 0.5).fit(X[:6], np.arange(6) % 3)), X)


def test_the_checks_of_learning_are_found_beside_those_of_channels():
    assert channelcode.testing.check_selector is check_selector
    assert "check_posterior" in dir(channelcode.testing)
    with pytest.raises(AttributeError, match="check_everything"):
        channelcode.testing.check_everything  # noqa: B018


class Mine(Selector):
    def __init__(self, function):
        self.function = function
        self.calls = 0

    def scores(self, belief, X, *, rng=None):
        self.calls += 1
        return self.function(self, np.asarray(X), rng)


def _writes(self, X, rng):
    X[0] = 0.0
    return X[:, 0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda self, X, rng: X, "one a candidate"),
        (lambda self, X, rng: X[1:, 0], "one a candidate"),
        (lambda self, X, rng: 0.0, "one a candidate"),
        (lambda self, X, rng: np.where(X[:, 0] > 1, np.nan, 0.0), "must not be NaN"),
        (lambda self, X, rng: np.where(X[:, 0] > 1, np.inf, 0.0), "inf"),
        (lambda self, X, rng: X[:, 0] + 1j, "real numbers"),
        (lambda self, X, rng: X[:, 0] + self.calls, "repeat themselves"),
        (lambda self, X, rng: np.random.rand(len(X)), "global random state"),  # noqa: NPY002
        (lambda self, X, rng: np.random.default_rng().random(len(X)), "repeat themselves"),
        (_writes, "leave X as it was"),
        (lambda self, X, rng: X[:, 0] + np.arange(len(X)), "turn the scores round"),
        (lambda self, X, rng: 1 / 0, "raised ZeroDivisionError"),
        (lambda self, X, rng: max(X, 0), "not vectorised"),
    ],
)
def test_each_mistake_is_named(function, message):
    with pytest.raises(AssertionError, match=message):
        check_selector(Mine(function))


class Remembering(Selector):
    """Scores depend on the pool that was seen before."""

    last = 0.0

    def scores(self, belief, X, *, rng=None):
        X = np.asarray(X)
        result = X[:, 0] + self.last * (len(X) > 10)
        self.last = 1.0 if len(X) == 5 else self.last
        return result


class Lowest(Selector):
    def scores(self, belief, X, *, rng=None):
        return np.asarray(X)[:, 0]

    def choose(self, belief, X, candidates, *, n=1, rng=None):
        choice = super().choose(belief, -X, candidates, n=n, rng=rng)
        return choice


@pytest.mark.parametrize(
    ("selector", "message"), [(Remembering(), "keep no state"), (Lowest(), "highest score")]
)
def test_mistakes_of_whole_classes(selector, message):
    with pytest.raises(AssertionError, match=message):
        check_selector(selector)


@pytest.mark.parametrize("thing", [APM, None, 3])
def test_only_selectors_are_checked(thing):
    with pytest.raises(AssertionError, match="must be an instance"):
        check_selector(thing)
