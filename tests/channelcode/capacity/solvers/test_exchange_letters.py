"""Letters exchanged for maxima, against the other solvers."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Logistic, Ordinal, Peak, Power, capacity
from channelcode.capacity.solvers.exchange_letters import ExchangeLetters, _clusters


@pytest.mark.parametrize("channel", [Logistic(), Ordinal([-1.0, 0.5, 2.0])], ids=repr)
@pytest.mark.parametrize("constraint", [Peak(3.0), Peak(3.0) & Power(1.0)], ids=repr)
def test_agrees_with_the_continuous_solver(channel, constraint):
    found = capacity(channel, constraint, solver=ExchangeLetters(3.0), throw=False)
    wanted = capacity(channel, constraint)
    assert found.bits == pytest.approx(wanted.bits, abs=1e-9)
    assert found.lower <= wanted.upper
    assert wanted.lower <= found.upper


def test_a_single_input():
    result = capacity(Logistic(), Peak(0.0), solver=ExchangeLetters(0.0))
    assert result.bits == 0.0
    np.testing.assert_array_equal(result.input.atoms, [0.0])


def test_letters_are_gathered_where_gaps_grow_at_once():
    points = np.array([0.0, 0.0, 0.01, 1.0, 1.02, 2.5])
    centres, mass = _clusters(points, np.array([0.1, 0.1, 0.2, 0.1, 0.1, 0.4]))
    np.testing.assert_allclose(centres, [0.005, 1.01, 2.5])
    np.testing.assert_allclose(mass, [0.4, 0.2, 0.4])
