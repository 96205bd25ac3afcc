"""Compiled quasi-Newton steps: against their own Python, NumPy's algebra, and the maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apm._kernels import softmax_descent
from apm.posteriors.fitting.softmax_maximum import Curvature, softmax_maximum, softmax_point
from tests.kernel_checks import assert_matches_py_func

descend: Any = softmax_descent.descend
point: Any = softmax_descent.point
solve: Any = softmax_descent.solve
EPS = 4 * float(np.finfo(float).eps)
NONE = np.empty((0, 0))


def problem(n: int, r: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    V = 0.2 * rng.normal(size=(k, r))  # near the maximum, as a warm start is
    return rng.normal(size=(n, r)), rng.integers(0, k, n), 0.5 + rng.random(n), V - V.mean(axis=0)


def parts(n: int, r: int, k: int) -> tuple[Any, ...]:
    """The arguments of `descend` up to the factors, which of them is used, and the Python ones."""
    Z, y, w, V = problem(n, r, k)
    here = softmax_point(Z, y, w, V)
    curvature = Curvature(Z, w, here.probability)
    if curvature._dense is None:
        factors = curvature._roots, np.ascontiguousarray(curvature._joint[0].T), NONE
    else:
        factors = np.empty((0, 0, 0)), NONE, np.ascontiguousarray(curvature._dense[0].T)
    ZT = np.ascontiguousarray(Z.T)
    return Z, ZT, y, w, np.ascontiguousarray(V.T), curvature, factors, here


SHAPES = [(12, 6, 5), (60, 2, 3)]  # the joint system, and the dense one


@pytest.mark.parametrize(("n", "r", "k"), SHAPES)
def test_a_point_is_that_of_numpy(n, r, k):
    Z, ZT, y, w, VT, _, _, here = parts(n, r, k)
    residual, gradient = np.empty((n, k)), np.empty((r, k))
    loss, size = assert_matches_py_func(point, Z, ZT, y, w, VT, residual, gradient, rtol=1e-10)
    point(Z, ZT, y, w, VT, residual, gradient)
    assert loss == pytest.approx(here.loss, rel=1e-12)
    assert EPS * size == pytest.approx(here.noise, rel=1e-12)
    np.testing.assert_allclose(gradient.T, here.gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "r", "k"), SHAPES)
def test_a_solution_is_that_of_the_factored_hessian(n, r, k):
    Z, ZT, _, _, _, curvature, factors, here = parts(n, r, k)
    assert (curvature._dense is None) == (n == 12)  # both ways are tried
    result = np.empty((r, k))
    G = np.ascontiguousarray(here.gradient.T)
    solve(Z, ZT, curvature._lever, *factors, G, result)
    np.testing.assert_allclose(result.T, curvature.solve(here.gradient), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "r", "k"), SHAPES)
def test_steps_match_their_python_and_lead_to_the_maximum(n, r, k):
    Z, ZT, y, w, VT, curvature, factors, _ = parts(n, r, k)
    arguments = (Z, ZT, y, w, VT, curvature._lever, *factors, 12, 1e-9, 1e-4, EPS)
    # twelve steps of two implementations of the sums: what differs shrinks with the steps
    assert_matches_py_func(descend, *arguments, rtol=1e-6, atol=1e-8)
    taken, small = descend(*arguments)
    assert 0 < taken <= 12
    expected, _ = softmax_maximum(Z, y, w, np.zeros((k, r)))
    if small:
        np.testing.assert_allclose(VT.T, expected, atol=1e-7)
    before = softmax_point(Z, y, w, problem(n, r, k)[3]).loss
    assert softmax_point(Z, y, w, np.ascontiguousarray(VT.T)).loss < before


def test_a_step_that_does_not_descend_is_not_taken():
    Z, ZT, y, w, VT, curvature, (roots, joint, dense), _ = parts(12, 6, 5)
    before = VT.copy()
    bad = -1e3 * roots  # a root a thousand times too long: the steps are far too long
    taken, small = descend(
        Z, ZT, y, w, VT, curvature._lever, bad, joint, dense, 12, 1e-9, 1e-4, EPS
    )
    assert (taken, small) == (0, False)
    np.testing.assert_array_equal(VT, before)
