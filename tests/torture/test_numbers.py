"""Numbers at the edge of floating point: right, or refused by name."""

# Odd types are what these tests are about.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from apm.belief import Belief
from apm.learner import Learner
from apm.posteriors import (
    Bohning,
    DiagonalHessian,
    FullHessian,
    KroneckerHessian,
    Laplace,
    VariationalLogistic,
)
from apm.power import FixedPower
from apm.selectors import APM
from channelcode.channels import Logistic, Probit, Softmax
from channelcode.errors import ChannelCodeError, InvalidArgument


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e16, 1e18, 1e24])
def test_laplace_is_right_or_refuses_at_any_scale_of_the_features(scale):
    """Features times s under a prior precision times s^2 are the same problem."""
    X, y = np.array([[1.0], [-0.5], [2.0]]), [1, 0, 1]
    plain = Laplace(Logistic(), 0.5).fit(X, y)
    try:
        scaled = Laplace(Logistic(), 0.5 * scale**2).fit(scale * X, y)
    except ChannelCodeError:
        return
    (mean,), (variance,) = (np.ravel(part) for part in (scaled.mean, np.asarray(scaled.covariance)))
    assert mean * scale == pytest.approx(float(np.ravel(plain.mean)[0]), rel=1e-7)
    expected = float(np.ravel(np.asarray(plain.covariance))[0])
    assert variance * scale**2 == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("exponent", [-500, -300, -50, 50, 300, 500])
@pytest.mark.parametrize(
    "structure", [FullHessian(), DiagonalHessian(), KroneckerHessian()], ids=repr
)
def test_no_structure_depends_on_the_unit_of_the_features(structure, exponent):
    """Features times 2^n under a precision times 4^n: the laws of the inputs are the same."""
    X, y, unit = np.array([[1.0, 0.3], [-0.5, 0.2], [2.0, -1.0]]), [0, 1, 2], 2.0**exponent
    plain, scaled = (
        Laplace(Softmax(3), 0.5 * u * u, structure=structure).fit(u * X, y) for u in (1.0, unit)
    )
    ours, theirs = (p.pool(p.project(u * X)) for p, u in ((plain, 1.0), (scaled, unit)))
    np.testing.assert_allclose(theirs.mean, ours.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(theirs.total_variance, ours.total_variance, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e12, 1e16, 1e18])
def test_laplace_with_huge_features_ends_at_the_maximum(scale):
    """One label at x = scale under a unit prior: the maximum solves theta = x sigma(-x theta)."""
    from scipy.optimize import brentq

    try:
        posterior = Laplace(Logistic(), 1.0).fit([[scale]], [1])
    except ChannelCodeError:
        return
    from scipy.special import expit

    peak = brentq(lambda u: u - scale**2 * expit(-u), 0, 200)  # u = x theta
    theta = float(np.ravel(posterior.mean)[0])
    assert theta * scale == pytest.approx(peak, rel=1e-6)
    curvature = 1.0 + scale**2 * expit(peak) * expit(-peak)
    variance = float(np.ravel(np.asarray(posterior.covariance))[0])
    assert variance == pytest.approx(1 / curvature, rel=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        Laplace(Logistic(), 1.0),
        Laplace(Probit(), 1.0),
        Laplace(Softmax(3), 1.0),
        Bohning(3, 1.0),
        VariationalLogistic(1.0),
    ],
    ids=repr,
)
def test_rows_of_zeros_and_contradictory_labels(model):
    zero = model.fit([[0.0, 0.0]], [1])
    np.testing.assert_allclose(zero.mean, 0.0, atol=1e-9)
    torn = model.fit([[1.0, 2.0], [1.0, 2.0]], [0, 1])
    assert np.isfinite(torn.map).all()
    learner = Learner([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], model, seed=0)
    learner.tell([0, 1], [0, 1])
    assert learner.ask().tolist() == [2]


@pytest.mark.parametrize("power", [1e3, 1e12, 1e26, 1e40])
def test_a_large_budget_still_tells_candidates_apart(power):
    """With P without end the widest law is nearest to the target, as long as means are equal."""
    X = np.array([[1.0], [3.0], [2.0], [0.5]])
    scores = APM(FixedPower(power)).select(Belief(VariationalLogistic(1.0)), X)
    assert int(scores[0]) == 1


def test_more_classes_than_memory_are_refused_with_the_size():
    with pytest.raises(InvalidArgument, match=r"byte|memory|entries|GiB|large"):
        Laplace(Softmax(2_000), 1.0).fit(np.eye(300)[:4], [0, 1, 2, 3])


@pytest.mark.parametrize("pair", [("a", "a\0"), (1, True), (0.1, "0.1"), (None, "a"), (b"a", "a")])
def test_labels_that_cannot_be_told_apart_are_refused_or_kept_apart(pair):
    learner = Learner(np.eye(3), VariationalLogistic(1.0), seed=0)
    try:
        learner.tell([0, 1], list(pair))
    except InvalidArgument:
        assert learner.belief.posterior.num_observations == 0
        return
    told = [record.label for record in learner.history]
    assert told == list(pair)
    assert len(set(learner.belief.posterior.codes.tolist())) == len(set(pair))


def test_a_variational_posterior_of_one_label_against_its_integral():
    """The exact posterior mean on the line; Jaakkola and Jordan's is near it, at any scale."""

    def weight(u: float) -> float:
        return np.exp(-u * u / 2) / (1 + np.exp(-u))

    total = integrate.quad(weight, -12, 12)[0]
    exact = integrate.quad(lambda u: u * weight(u), -12, 12)[0] / total
    for scale in (2.0**-400, 1.0, 2.0**200):
        posterior = VariationalLogistic(scale**-2.0).fit([[1 / scale]], [1])
        found = float(np.ravel(posterior.mean)[0]) / scale
        assert found == pytest.approx(exact, rel=0.02)  # the bound's own error is about 1 %
