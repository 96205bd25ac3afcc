"""A problem is brought into its form once, and one dispatch decides who solves it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from channelcode import DiscreteMeasure, Empirical, Gaussian, InvalidArgument, w2
from channelcode.transport import Auto, Problem
from channelcode.transport import problem as module

RANK_FOUR = DiscreteMeasure.uniform(np.random.default_rng(0).standard_normal((6, 4)))


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_the_target_is_reduced_once(monkeypatch, rng, dim):
    """A w2 of rank four used to reduce the target eleven times and to ask seventeen solvers."""
    calls: list[Any] = []
    original = module.reduce_target
    monkeypatch.setattr(
        module, "reduce_target", lambda *a, **k: (calls.append(a), original(*a, **k))[1]
    )
    nu = DiscreteMeasure.uniform(rng.standard_normal((dim + 2, dim)))
    for mu in (Gaussian(np.zeros(dim), np.eye(dim)), Empirical(rng.standard_normal((30, dim)))):
        calls.clear()
        result = w2(mu, nu)
        assert result.plan is not None
        assert result.potentials is not None
        assert len(calls) == 1


def test_one_method_is_asked(monkeypatch):
    asked: list[str] = []
    problem = Problem(Gaussian(np.zeros(4), np.eye(4)), RANK_FOUR)
    for cls in {type(method) for method in Auto().methods(problem)}:
        original = cls.propose
        monkeypatch.setattr(
            cls,
            "propose",
            lambda self, p, *, tol, original=original: (
                asked.append(type(self).__name__),
                original(self, p, tol=tol),
            )[1],
        )
    w2(problem.first, problem.second)
    assert asked == ["QuasiMonteCarlo"]


def test_orientation():
    gaussian, few = Gaussian(0.0, 1.0), DiscreteMeasure.uniform([0.0, 1.0, 2.0])
    many = Empirical(np.arange(9.0))
    assert Problem(few, gaussian).swapped
    assert not Problem(gaussian, few).swapped
    assert Problem(few, many).swapped
    assert not Problem(many, few).swapped
    assert not Problem(Empirical([0.5]), DiscreteMeasure.symmetric(1.0)).swapped


def test_coinciding_atoms_become_one():
    """A covariance that does not see the difference of two atoms makes them one."""
    nu = DiscreteMeasure([[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], [0.1, 0.2, 0.3, 0.4])
    sketch = Problem(Gaussian(np.zeros(3), np.diag([1.0, 1.0, 0.0])), nu).sketch
    assert sketch.dim == 2
    assert len(sketch.weights) == 3
    assert sketch.groups[0] == sketch.groups[1]
    nothing = Problem(Gaussian(np.zeros(3), np.zeros((3, 3))), nu).sketch
    assert nothing.dim == 0


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_sizes_whose_squares_are_not_finite_are_refused(size):
    nu = DiscreteMeasure.uniform([[size, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(InvalidArgument, match="squared distances that are finite"):
        w2(Gaussian([0.0, 0.0], np.eye(2)), nu)
    with pytest.raises(InvalidArgument, match="squared distances that are finite"):
        w2(Empirical([-size]), DiscreteMeasure.symmetric(1.0))


@pytest.mark.parametrize("order", [1.0, -1.0])
def test_what_a_row_of_near_atoms_costs_is_counted(order):
    """Sixty atoms in a row, each a rounding from the next, are taken for one: some move by 1e-13.

    The bound on that was the step from one to the next.
    """
    row = np.stack((np.zeros(60), 4.5e-15 * order * np.arange(60)), axis=1)
    atoms = np.concatenate((row, [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]))
    weights = np.concatenate((np.full(60, 0.7 / 60), [0.1, 0.1, 0.1]))
    sketch = Problem(Gaussian([0.0, 0.0], np.eye(2)), DiscreteMeasure(atoms, weights)).sketch
    assert len(sketch.weights) == 4
    moved = atoms - (sketch.atoms * sketch.unit + weights @ atoms)[sketch.groups]
    far = np.sqrt(2 * weights @ (moved**2).sum(axis=1))
    assert 5e-14 < far <= sketch.error * sketch.unit + 1e-15
