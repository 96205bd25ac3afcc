"""Letters exchanged for maxima, against the other solvers."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import Logistic, Ordinal, Peak, Power, capacity
from channelcode.capacity.solvers.exchange_letters import ExchangeLetters


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
