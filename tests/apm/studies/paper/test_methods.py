"""Methods by name: each is the selector that the paper describes."""

from __future__ import annotations

import numpy as np
import pytest

from apm import selectors
from apm.selectors.base import Selector
from apm.studies.paper.methods import (
    ABLATIONS,
    ADDITIONS,
    CURVE_METHODS,
    METHODS,
    PAPER_METHODS,
    check_method,
    make_selector,
)
from channelcode.errors import InvalidArgument
from tests.apm.given import given_belief

KINDS: dict[str, type[Selector]] = {
    "APM-LR": selectors.APM,
    "Uncertainty": selectors.Uncertainty,
    "BALD": selectors.BALD,
    "InfoGain": selectors.InformationGain,
    "Random": selectors.Random,
    "MaxVar": selectors.MaxVariance,
    "APM-LR-U": selectors.APMExploit,
    "APM-LR-V": selectors.APMExplore,
    "InfoGain-exact": selectors.InformationGain,
    "EPIG": selectors.EPIG,
    "APM-predictions": selectors.APM,
    "APM-matched": selectors.APM,
}
# Logits N(0.2, 0.09), N(0, 1), N(3, 16), N(-1, 0.01): unlike for every method.
POOL = np.array([[0.1, 0.3], [0.0, 1.0], [1.5, 3.7], [-0.5, 0.0]])
BELIEF = given_belief([2.0, 0.0], np.diag([0.04, 1.0]))


def made(method: str) -> Selector:
    return make_selector(method).prepared(BELIEF, POOL)


def test_unknown_methods_suggest_the_nearest() -> None:
    with pytest.raises(InvalidArgument, match="did you mean Uncertainty"):
        check_method("uncertanty")
    assert set(ADDITIONS).isdisjoint(PAPER_METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_builds_its_selector_and_scores(method: str) -> None:
    selector = made(method)
    assert type(selector) is KINDS[method]
    scores = selector.scores(BELIEF, POOL, rng=0)
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()
    assert np.unique(scores).size > 1


def test_the_names_are_the_papers() -> None:
    assert set(KINDS) == set(METHODS)
    assert CURVE_METHODS == ("APM-LR", "Uncertainty", "BALD", "InfoGain", "Random", "MaxVar")
    assert (*CURVE_METHODS, *ABLATIONS) == PAPER_METHODS
    assert ADDITIONS == ("InfoGain-exact", "EPIG", "APM-predictions", "APM-matched")


def test_information_gain_has_the_papers_hundred_samples() -> None:
    sampled = made("InfoGain")
    exact = made("InfoGain-exact")
    assert sampled == selectors.InformationGain(samples=100)
    assert exact == selectors.InformationGain()
    assert (sampled.scores(BELIEF, POOL, rng=0) != sampled.scores(BELIEF, POOL, rng=1)).any()
    np.testing.assert_array_equal(exact.scores(BELIEF, POOL), exact.scores(BELIEF, POOL))


def test_each_method_picks_what_its_name_says() -> None:
    """Nearest to the hyperplane, the largest variance, and the two terms of the paper's score."""

    def pick(method: str) -> int:
        return int(made(method).select(BELIEF, POOL, rng=0)[0])

    mean = POOL @ [2.0, 0.0]
    variance = POOL**2 @ [0.04, 1.0]
    assert pick("Uncertainty") == pick("APM-LR-U") == np.abs(mean).argmin() == 1
    assert pick("MaxVar") == variance.argmax() == 2


def test_predictions_are_the_message_of_the_addition() -> None:
    found = made("APM-predictions")
    assert isinstance(found, selectors.APM)
    assert isinstance(found.message, selectors.Predictions)
    np.testing.assert_array_equal(found.message.targets, POOL)  # kept from the initial pool


def test_the_matched_budget_is_that_of_the_channel_and_the_pool() -> None:
    """8 pi over the largest variance for the logistic channel (theory of encoders, section 8)."""
    found = made("APM-matched")
    assert isinstance(found, selectors.APM)
    assert found.power.power(BELIEF, POOL) == pytest.approx(8 * np.pi / 13.78)
    largest = (POOL**2 @ [0.04, 1.0]).max()
    assert largest == pytest.approx(13.78)
