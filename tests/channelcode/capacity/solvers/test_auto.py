"""Which solver is chosen, and that a symmetry seen at samples alone is not believed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from channelcode import BinarySymmetric, DiscreteChannel, Link, Logistic, Ordinal, Softmax
from channelcode.capacity import Auto, Cost, Power, Unconstrained, capacity

CHOICES = [
    (Logistic(), Power(1.0), "ClosedForm"),
    (Softmax(3), Power(1.0), "ClosedForm"),
    (Link(lambda l: expit(l**3)), Power(0.5), "ClosedForm"),
    (BinarySymmetric(0.1), Unconstrained(), "ClosedForm"),
    (DiscreteChannel([[0.9, 0.1], [0.2, 0.8]]), Unconstrained(), "InteriorPoint"),
    (BinarySymmetric(0.1), Power(0.25), "InteriorPoint"),
    (Ordinal([-1.0, 1.0]), Power(1.0), "Continuous"),
    (Logistic(), Cost(np.abs, 1.0), "Continuous"),
]


@pytest.mark.parametrize(("channel", "constraint", "method"), CHOICES)
def test_choice(channel, constraint, method):
    result = capacity(channel, constraint, solver=Auto())
    assert result.stats.method.startswith(method)
    assert result.stats.details["chosen_by"] == "Auto"


def test_a_bump_between_the_samples_is_found():
    # f(-l) = 1 - f(l) but for one side of a bump of width 0.024, which the samples of the
    # symmetry miss; the certificate would fail if the envelope's law were taken
    def response(l):
        return expit(l) + 0.1 * np.maximum(1.0 - ((l - 2.051) / 0.012) ** 2, 0.0) ** 3

    result = capacity(Link(response), Power(1.0))
    assert result.stats.method == "Continuous"
    assert result.gap <= 1e-9
    assert result.bits > capacity(Logistic(), Power(1.0)).bits + 1e-3
