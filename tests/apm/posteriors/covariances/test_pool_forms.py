"""Forms kept from label to label are those computed anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import Bohning, Laplace
from apm.posteriors.covariances import pool_forms
from apm.posteriors.covariances.pool_forms import KEPT_LABELS, PoolForms, change_between
from apm.power import FixedPower, PoolMaxPower
from apm.selectors import (
    APM,
    BALD,
    EPIG,
    AllClasses,
    ContestedPair,
    Entropy,
    LeastConfidence,
    Margin,
    MaxVariance,
    Predictions,
    Random,
    Selector,
    Uncertainty,
)
from channelcode.channels import Softmax

PAIR = ContestedPair()
RULES: dict[str, Selector] = {
    "random": Random(),
    "margin": Margin(),
    "uncertainty": Uncertainty(),
    "least confidence": LeastConfidence(),
    "entropy": Entropy(),
    "variance": MaxVariance(),
    "BALD": BALD(20),
    "EPIG": EPIG(20, num_targets=8),
    "Bayesian margin": Margin(bayesian=True, samples=20),
    "all classes": APM(channel=AllClasses()),
    "pair": APM(channel=PAIR),
    "each": APM(PoolMaxPower(), channel=PAIR, message=Predictions(num_targets=15, pooled=False)),
    "64": APM(FixedPower(64.0), channel=PAIR, message=Predictions(num_targets=15, weighted=False)),
    "predictions": APM(PoolMaxPower(), channel=PAIR, message=Predictions(num_targets=15)),
    "all, predictions": APM(PoolMaxPower(), message=Predictions(num_targets=15)),
}


def data(rows: int = 60, features: int = 6, classes: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    y = np.argmax(X[:, :classes] + 0.5 * rng.normal(size=(rows, classes)), axis=1)
    return X, y


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_picks_are_those_of_the_plain_path(rule, intercept, monkeypatch):
    X, y = data()

    def picks() -> list[int]:
        model = Bohning(4, 0.1, intercept=intercept, classes=range(4))
        learner = Learner(X, model, RULES[rule], seed=3)
        learner.tell([0, 1, 2], y[:3])
        return learner.run(y, 25).indices.tolist()

    kept = picks()
    monkeypatch.setattr(Belief, "forms", lambda self, X: None)
    assert kept == picks()


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    precision=st.sampled_from([1e-4, 0.01, 1.0, 100.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    intercept=st.booleans(),
)
def test_kept_forms_are_the_forms(seed, precision, scale, intercept):
    """After each of twenty labels, some repeated, some told two at a time."""
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(30, 3))
    X[4] = 0.0
    targets = X[:7] + 0.0
    model = Bohning(3, precision * scale**2, intercept=intercept, classes=range(3))
    posterior = model.sized(3)
    forms: PoolForms | None = PoolForms(posterior, X)
    for step in range(12):
        rows = rng.integers(30, size=1 + step % 2)
        posterior = posterior.update(X[rows], rng.integers(3, size=len(rows)))
        assert forms is not None
        forms.cross(targets)
        forms = forms.after(posterior)
        assert forms is not None
        fresh = PoolForms(posterior, X)
        # KEPT_PART leaves three digits less than a fresh computation has
        np.testing.assert_allclose(forms.leverage, fresh.leverage, rtol=1e-9)
        size = np.sqrt(np.outer(fresh.leverage, PoolForms(posterior, targets).leverage))
        difference = np.abs(forms.cross(targets) - fresh.cross(targets))  # type: ignore[operator]
        assert (difference <= 1e-9 * size).all()


def test_a_label_costs_no_product_with_the_whole_matrix(monkeypatch):
    """The forms are kept, not computed anew."""
    X, y = data()
    before = Bohning(4, 1.0).fit(X[:8], y[:8])
    forms = PoolForms(before, X)
    targets = X[:5] + 0.0
    forms.cross(targets)
    after = before.update(X[9], y[9])
    for name in ("leverage", "cross_leverage"):
        monkeypatch.setattr(Bohning, name, None)
    kept = forms.after(after)
    assert kept is not None
    assert np.isfinite(kept.leverage).all()
    assert np.isfinite(kept.cross(targets)).all()  # type: ignore[call-overload]


def test_forms_are_computed_anew_when_their_digits_are_used_up():
    X, y = data(rows=200)
    posterior = Bohning(4, 1e-6, classes=range(4)).sized(6)
    forms = PoolForms(posterior, X)
    assert forms.leverage.min() > 1e5
    for row in range(6):  # every direction falls from 1e6 to order one at some label
        posterior = posterior.update(X[row], y[row])
        later = forms.after(posterior)
        assert later is not None
        forms = later
        exact = np.einsum("ni,ij,nj->n", X, posterior.covariance.inner, X)
        # B of size 1e6 holds x'Bx of order one to 1e-10; a difference without care loses that twice
        np.testing.assert_allclose(forms.leverage, exact, rtol=2e-9)
    assert forms.leverage.max() < 1e4


def test_forms_are_computed_anew_after_many_labels():
    X, y = data(rows=KEPT_LABELS + 20)
    posterior = Bohning(4, 1.0).fit(X[:4], y[:4])
    forms = PoolForms(posterior, X)
    ages = []
    for row in range(4, KEPT_LABELS + 10):
        _ = forms.leverage
        posterior = posterior.update(X[row], y[row])
        forms = forms.after(posterior)
        assert forms is not None
        ages.append(forms._age)
    assert max(ages) == KEPT_LABELS
    assert ages[-1] < 10


@pytest.mark.parametrize("change", ["fewer", "other rows", "other weights", "other prior", "kind"])
def test_only_further_labels_count_as_such(change):
    X, y = data()
    before = Bohning(4, 1.0).fit(X[:8], y[:8])
    after = {
        "fewer": lambda: Bohning(4, 1.0).fit(X[:7], y[:7]),
        "other rows": lambda: Bohning(4, 1.0).fit(X[1:9], y[1:9]).update(X[8], y[8]),
        "other weights": lambda: (
            Bohning(4, 1.0).fit(X[:8], y[:8], np.full(8, 2.0)).update(X[8], y[8])
        ),
        "other prior": lambda: Bohning(4, 2.0).fit(X[:8], y[:8]).update(X[8], y[8]),
        "kind": lambda: Laplace(Softmax(4), 1.0).fit(X[:9], y[:9]),
    }[change]()
    assert change_between(before, after) is None
    assert change_between(before, before) is None
    assert change_between(before, before.update(X[8:10], y[8:10])) is None
    assert change_between(before, before.update(X[8], y[8])) is not None


def test_large_pairs_of_pool_and_targets_are_not_held(monkeypatch):
    X, y = data()
    posterior = Bohning(4, 1.0).fit(X[:8], y[:8])
    monkeypatch.setattr(pool_forms, "MOST_CROSS", 60 * 15 - 1)
    assert PoolForms(posterior, X).cross(X[:15]) is None
    rule = RULES["predictions"]
    belief = Belief(posterior)
    chosen = rule.prepared(belief, X)
    np.testing.assert_array_equal(
        chosen.select(belief.keeping(X), X, n=3), chosen.select(belief, X, n=3)
    )


def test_a_belief_keeps_only_its_own_pool():
    X, y = data()
    belief = Belief(Bohning(4, 1.0).fit(X[:8], y[:8])).keeping(X)
    assert belief.forms(X) is not None
    assert belief.forms(X.copy()) is None
    assert belief.update(X[8], y[8]).forms(X) is not None
    assert Belief(Laplace(Softmax(4), 1.0)).keeping(X).forms(X) is None
    assert belief.after(Laplace(Softmax(4), 1.0).fit(X[:8], y[:8])).forms(X) is None
    assert Belief(Bohning(4)).keeping(X.astype(np.float32)).forms(X) is None
