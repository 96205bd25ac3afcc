"""`w2` chooses by structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    Gaussian,
)
from channelcode.transport import (
    Auto,
    Problem,
    Proposal,
    w2,
)

TRIANGLE = DiscreteMeasure.uniform([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])


@pytest.mark.parametrize(
    ("mu", "nu", "method"),
    [
        (Gaussian(0.0, 1.0), DiscreteMeasure.symmetric(1.0), "line, Gaussian"),
        (Empirical([0.0, 1.0]), DiscreteMeasure.symmetric(1.0), "line, Prop. 3.2"),
        (Empirical([0.0, 1.0]), DiscreteMeasure.uniform([0.0, 1.0, 4.0]), "line, sorted"),
        (Gaussian(0.0, 1.0), Gaussian(1.0, 2.0), "Gaussian, Bures"),
        (Gaussian([0, 0], np.eye(2)), DiscreteMeasure.uniform(np.eye(2)), "line"),
        (Gaussian([0, 0], np.eye(2)), TRIANGLE, "plane"),
        (Gaussian([0, 0, 0], np.eye(3)), DiscreteMeasure.uniform(np.eye(3)), "simplex"),
        (Empirical(np.eye(3)[:, :2]), TRIANGLE, "samples"),
        (Gaussian(np.zeros(5), np.eye(5)), DiscreteMeasure.uniform(np.eye(5)), "simplex"),
    ],
)
def test_the_method_follows_the_structure(mu, nu, method):
    result = w2(mu, nu)
    assert result.method.startswith(method)
    assert w2(nu, mu).squared == pytest.approx(result.squared, rel=1e-13)
    assert w2(mu, nu, solver=Auto()).squared == result.squared


class Junk:
    """A method whose proof is worth little."""

    def accepts(self, problem: Problem) -> bool:
        return True

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        return Proposal("junk", potential=np.linspace(-0.1, 0.1, len(problem.sketch.weights)))


class JunkFirst(Auto):
    def methods(self, problem: Problem) -> Any:
        return (Junk(), *super().methods(problem), Junk())


def test_the_best_proof_of_several_methods_is_reported():
    mu, nu = Gaussian([0.3, 0.1], np.eye(2)), DiscreteMeasure.uniform([[1, 0], [0, 2], [-1, -1]])
    plain, mixed = w2(mu, nu), w2(mu, nu, solver=JunkFirst())
    assert mixed.squared == pytest.approx(plain.squared, rel=1e-12)
    assert mixed.upper - mixed.lower <= 2 * (plain.upper - plain.lower)
