"""rho^2, the part of a candidate's input that the logits at a target explain."""

from __future__ import annotations

import numpy as np
import pytest

from apm.belief import Belief
from apm.posteriors import Bohning, DiagonalHessian, Laplace, Sampled
from apm.selectors import AllClasses, ContestedPair
from apm.selectors.matching.explained_variance import explained_share, kept_shares
from apm.selectors.matching.views import View
from channelcode.channels import Softmax
from channelcode.errors import InvalidArgument
from tests.apm.given import given_belief, three_classes


def view_of(belief: Belief, X: np.ndarray) -> View:
    return ContestedPair().view(belief, belief.push(X))


def test_on_the_line_it_is_the_squared_correlation(rng):
    root = rng.normal(size=(3, 3))
    belief = given_belief(rng.normal(size=3), root @ root.T)
    X, targets = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    found = explained_share(belief, X, targets, view_of(belief, X))
    joint = np.vstack([X, targets]) @ root
    covariance = joint @ joint.T
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    np.testing.assert_allclose(found, correlation[:5, 5:] ** 2, rtol=1e-9)


def test_a_candidate_explains_itself_and_nothing_explains_a_constant(rng):
    belief = given_belief([0.3, 0.1], np.diag([1.0, 4.0]))
    X = np.array([[1.0, 2.0], [0.0, 0.0], [-3.0, -6.0]])
    found = explained_share(belief, X, X, view_of(belief, X))
    np.testing.assert_allclose(found, [[1, 0, 1], [0, 0, 0], [1, 0, 1]], atol=1e-12)


def test_bohnings_product_cancels(rng):
    """Cov(l_x, l_x*) = (x'Bx*) A: the pair and the classes drop out of the share."""
    X = rng.normal(size=(9, 2))
    belief = Belief(Bohning(3, 0.5).fit(X, np.arange(9) % 3))
    inner = belief.posterior.covariance.inner
    found = explained_share(belief, X, X[:4], view_of(belief, X))
    cross = X @ inner @ X[:4].T
    own = np.einsum("ni,ij,nj->n", X, inner, X)
    np.testing.assert_allclose(found, cross**2 / np.outer(own, own[:4]), rtol=1e-9)


def test_draws_give_the_squared_correlation_of_the_draws(rng):
    pytest.importorskip("polyagamma")
    X = rng.normal(size=(6, 2))
    belief = Belief(Sampled(samples=80, burn_in=10).fit(X, np.arange(6) % 2))
    found = explained_share(belief, X, X[:3], view_of(belief, X))
    inputs = X @ belief.posterior.samples.T  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, np.corrcoef(inputs)[:, :3] ** 2, rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_diagonal_covariance_takes_the_general_way(intercept, rng):
    """Var(L | F) by a Schur complement of the centred joint covariance."""
    X = rng.normal(size=(9, 2))
    posterior = Laplace(Softmax(3), 0.5, structure=DiagonalHessian(), intercept=intercept)
    belief = Belief(posterior.fit(X, np.arange(9) % 3))
    view = view_of(belief, X)
    found = explained_share(belief, X, X[:2], view)
    rows = np.hstack([X, np.ones((9, 1))]) if intercept else X
    variances = np.asarray(belief.posterior.covariance.variances)
    centre = np.eye(3) - 1 / 3

    def between(x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return centre @ np.diag(variances @ (x * z)) @ centre

    assert view.pairs is not None
    for row, (first, second) in enumerate(view.pairs):
        pair = np.eye(3)[first] - np.eye(3)[second]
        for place in range(2):
            cross = between(rows[place], rows[row]) @ pair
            inverse = np.linalg.pinv(between(rows[place], rows[place]), rcond=1e-9)
            explained = cross @ inverse @ cross
            total = pair @ between(rows[row], rows[row]) @ pair
            assert found[row, place] == pytest.approx(explained / total, rel=1e-8)


def test_a_full_covariance_without_a_pair_is_refused():
    belief, X = three_classes()
    with pytest.raises(InvalidArgument, match=r"ContestedPair\(\)"):
        explained_share(belief, X, X[:2], AllClasses().view(belief, belief.push(X)))


@pytest.mark.parametrize("exponent", [-400, -100, 0, 100, 400])
def test_it_has_no_units(exponent, rng):
    """Shares are the same however large or small the features: no square leaves the range."""
    X, targets = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    root = rng.normal(size=(3, 3))
    belief = given_belief(rng.normal(size=3), root @ root.T)
    plain = explained_share(belief, X, targets, view_of(belief, X))
    scale = 2.0**exponent
    found = explained_share(belief, scale * X, scale * targets, view_of(belief, scale * X))
    np.testing.assert_allclose(found, plain, rtol=1e-9)
    assert plain.max() > 0.1


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("exponent", [-300, -100, 0, 3])
def test_kept_shares_are_the_shares_at_any_scale(exponent, pooled, rng):
    X = 2.0**exponent * rng.normal(size=(12, 3))
    belief = Belief(Bohning(3, 1.0, classes=range(3)).fit(X[:6], np.arange(6) % 3)).keeping(X)
    targets = X[:4] + 0.0
    weights = np.full(4, 0.25) if pooled else None
    pieces = kept_shares(belief, X, None, targets, weights)
    assert pieces is not None
    found = np.concatenate([share for _, share in pieces])
    expected = explained_share(belief, X, targets, view_of(belief, X))
    assert expected.max() > 0.1
    if pooled:
        expected = expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
