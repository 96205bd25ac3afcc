# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
"""Gauss-Newton with the Fisher form: stationary points of SciPy's own objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from apm import NonLinear
from apm.posteriors.fitting.gauss_newton import (
    Problem,
    checked_jacobian,
    encoder_jacobian,
    expanded,
    inverse,
    maximise,
    psd_root,
)
from channelcode import Channel, Logistic, Softmax
from channelcode.errors import InvalidArgument, NotConverged


def problem(seed, *, scale=1.0, rows=12):
    rng = np.random.default_rng(seed)
    encoder = NonLinear(lambda t, X: t[:, 0] / scale + np.tanh(t[:, 1] / scale * X[:, :1]) * 2, 2)
    X = rng.normal(size=(rows, 1))
    codes = (rng.random(rows) < 0.5).astype(np.int64)
    return Problem(
        encoder, Logistic(), X, codes, rng.random(rows) + 0.5, np.zeros(2), np.full(2, scale)
    )


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1.0, 1e6]))
def test_the_gradient_is_that_of_the_objective(seed, scale):
    """Differences of J with steps of 1e-7 are good to about 1e-6."""
    held = problem(seed, scale=scale)
    u = np.random.default_rng(seed).normal(size=2)
    gradient, _ = held.model(u)
    numerical: Any = approx_fprime(u, lambda v: held.value(v)[0], 1e-7)
    np.testing.assert_allclose(gradient, numerical, atol=1e-4)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2.0**-200, 1e-6, 1.0, 1e6, 2.0**200]))
def test_maximum_is_stationary_in_every_unit(seed, scale):
    """Differences of the encoder have a step of 1e-5, so its parameters must not be smaller."""
    held = problem(seed, scale=scale)
    exact = NonLinear(
        held.encoder.function,  # type: ignore[attr-defined]
        2,
        lambda t, X: np.stack(
            [
                np.full(len(X), 1 / scale),
                2 * X[:, 0] / np.cosh(t[1] / scale * X[:, 0]) ** 2 / scale,
            ],
            axis=1,
        ),
    )
    found = maximise(held._replace(encoder=exact), np.zeros(2))
    assert found.decrement <= 1e-6
    base = problem(seed)
    assert found.value <= base.value(found.u + 1e-3)[0] + 1e-9


def test_both_forms_of_the_inverse():
    rng = np.random.default_rng(0)
    for m, q in ((3, 7), (7, 3), (0, 4)):
        rows, v = rng.normal(size=(m, q)), rng.normal(size=q)
        expected = np.linalg.solve(np.eye(q) + rows.T @ rows, v)
        np.testing.assert_allclose(inverse(rows)(v), expected, atol=1e-12)
    forms = rng.normal(size=(4, 3, 3))
    forms = forms @ np.swapaxes(forms, 1, 2)
    roots = psd_root(forms)
    np.testing.assert_allclose(np.swapaxes(roots, 1, 2) @ roots, forms, atol=1e-12)
    centre = np.eye(3) - 1 / 3
    roots = psd_root(centre @ forms @ centre)  # one direction that no form sees
    assert roots.shape == (4, 2, 3)
    found = np.swapaxes(roots, 1, 2) @ roots
    np.testing.assert_allclose(found, centre @ forms @ centre, atol=1e-12)
    assert psd_root(np.zeros((2, 3, 3))).shape == (2, 1, 3)


def test_fisher_rows_of_a_softmax_are_its_hessian():
    rng = np.random.default_rng(1)
    encoder = NonLinear(lambda t, X: np.einsum("skd,nd->nsk", t.reshape(-1, 3, 2), X), 6)
    X, codes = rng.normal(size=(8, 2)), rng.integers(0, 3, 8)
    held = Problem(encoder, Softmax(3), X, codes, np.ones(8), np.zeros(6), np.ones(6))
    u = rng.normal(size=6)
    _, rows = held.model(u)
    p = Softmax(3).prob(X @ u.reshape(3, 2).T)
    hessian = np.einsum("nj,jk->njk", p, np.eye(3)) - p[:, :, None] * p[:, None, :]
    expected = np.einsum("njk,na,nb->jakb", hessian, X, X).reshape(6, 6)
    np.testing.assert_allclose(rows.T @ rows, expected, atol=1e-8)


def test_what_cannot_be_maximised_says_so():
    held = problem(0)
    nowhere = NonLinear(lambda t, X: np.full((len(X), len(t)), np.nan), 2)
    with pytest.raises(NotConverged, match="no density at the start"):
        maximise(held._replace(encoder=nowhere), np.zeros(2))
    with pytest.raises(InvalidArgument, match="possible under the labels"):
        expanded(held._replace(encoder=nowhere), np.zeros(2))
    wrong = NonLinear(held.encoder.function, 2, lambda t, X: np.ones((len(X), 3, 2)))  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgument, match=r"must have shape \(12, 2\)"):
        encoder_jacobian(wrong, Logistic(), np.zeros(2), held.rows)


def test_the_row_with_a_slope_that_is_not_finite_is_named():
    slopes = np.array([[1.0, 2.0], [np.nan, 0.0], [3.0, 4.0]])
    with pytest.raises(InvalidArgument, match=r"for x = \[7\.0\]"):
        checked_jacobian(slopes, Logistic(), np.zeros(2), np.array([[5.0], [7.0], [9.0]]))


def test_a_steep_row_leaves_the_directions_that_it_does_not_see():
    """(I + G'G)^-1 v for G of 1e12: what is across G stays as it is, to rounding."""
    rows = 1e12 * np.array([[3.0, 4.0, 0.0]]) / 5
    across, along = np.array([-0.8, 0.6, 0.0]), np.array([0.6, 0.8, 0.0])
    solve = inverse(rows)
    np.testing.assert_allclose(solve(across), across, atol=1e-3)  # 1e12 epsilon: what rows round to
    np.testing.assert_allclose(solve(along), 0.0, atol=1e-3)
    np.testing.assert_allclose(solve(np.eye(3)[2]), np.eye(3)[2], atol=1e-12)


def test_a_label_that_cannot_come_adds_nothing():
    """ln 0 has no slope; the model of the others must stay finite."""

    class Sure(Channel):
        dim, num_outputs = 1, 3

        def log_prob(self, l):
            two = Logistic().log_prob(l)
            return np.concatenate([two, np.full_like(two[..., :1], -np.inf)], axis=-1)

    encoder = NonLinear(lambda t, X: t[:, 0] * X[:, :1], 1)
    told = Problem(
        encoder, Sure(), np.ones((1, 1)), np.array([1]), np.ones(1), np.zeros(1), np.ones(1)
    )
    gradient, rows = told.model(np.zeros(1))
    assert np.isfinite(gradient).all()
    assert np.isfinite(rows).all()
