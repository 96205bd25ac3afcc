"""Softmax capacity in both regimes against the numerical solver, K = 2..6."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode.capacity import ClosedForm, Continuous, Power, capacity
from channelcode.channels import Logistic, Softmax


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("power", [0.3, 12.0])  # below and above u* for every K >= 3
def test_formula_agrees_with_the_solver(classes: int, power: float) -> None:
    formula = capacity(Softmax(classes), Power(power), solver=ClosedForm())
    found = capacity(Softmax(classes), Power(power), solver=Continuous())
    assert found.bits == pytest.approx(formula.bits, abs=1e-9)  # the solver's certified gap
    on_off = classes > 2 and power < 0.5
    assert len(formula.input) == classes + on_off
    radii = np.linalg.norm(formula.input.points, axis=1)
    assert np.isclose(radii.min(), 0.0) == on_off


@pytest.mark.parametrize("power", [0.3, 12.0])
def test_two_classes_are_the_logistic_at_twice_the_power(power: float) -> None:
    two = capacity(Softmax(2), Power(power))
    assert two.bits == pytest.approx(capacity(Logistic(), Power(2 * power)).bits, abs=1e-12)
