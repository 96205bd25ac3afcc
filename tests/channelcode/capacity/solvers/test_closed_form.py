"""Formulas against fifty digits, the numerical solvers, and each other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    Logistic,
    Ordinal,
    Probit,
    Softmax,
    ZChannel,
)
from channelcode.capacity import (
    BlahutArimoto,
    ClosedForm,
    Continuous,
    Cost,
    InteriorPoint,
    Peak,
    Power,
    Problem,
    Unconstrained,
    capacity,
)
from channelcode.capacity.solvers.closed_form import attempt
from channelcode.errors import InvalidArgument

LINKS = {
    "logistic": (Logistic(), lambda t: 1 / (1 + mpmath.exp(-t))),
    "probit": (Probit(), mpmath.ncdf),
    "wide probit": (Probit(2.5), lambda t: mpmath.ncdf(t / 2.5)),
}


def exact(link, power):
    """ln 2 - h_b(f(sqrt P)) in nats."""
    miss = link(-mpmath.sqrt(power))
    hit = link(mpmath.sqrt(power))
    return mpmath.log(2) + miss * mpmath.log(miss) + hit * mpmath.log(hit)


@pytest.mark.parametrize("power", [1e-6, 0.01, 1.0, 7.0, 60.0])
@pytest.mark.parametrize("name", LINKS)
def test_two_atoms_at_the_root_of_the_power(name, power):
    channel, link = LINKS[name]
    with mpmath.workdps(50):
        value = exact(link, mpmath.mpf(power))
        slope = mpmath.diff(lambda u: exact(link, u), mpmath.mpf(power))
        deficit = mpmath.log(2) - value
    result = capacity(channel, Power(power), solver=ClosedForm())
    np.testing.assert_allclose(result.input.atoms, [-np.sqrt(power), np.sqrt(power)], rtol=1e-15)
    assert result.nats == pytest.approx(float(value), rel=1e-12)
    assert result.deficit_nats == pytest.approx(float(deficit), rel=1e-12)
    # the probit's slope is a difference of logs, cut off below t = 1e-4 with an error of t^2
    assert result.multiplier * np.log(2) == pytest.approx(float(slope), rel=1e-8)


@pytest.mark.parametrize("name", LINKS)
def test_slope_at_zero_power(name):
    channel, link = LINKS[name]
    with mpmath.workdps(50):
        slope = exact(link, mpmath.mpf("1e-20")) / mpmath.mpf("1e-20")
    result = capacity(channel, Power(0.0), solver=ClosedForm())
    assert result.multiplier * np.log(2) == pytest.approx(float(slope), rel=1e-12)


@pytest.mark.parametrize(
    ("channel", "bits"),
    [
        (BinarySymmetric(0.11), 1 + 0.11 * np.log2(0.11) + 0.89 * np.log2(0.89)),
        (BinaryErasure(0.3), 0.7),
        (ZChannel(0.5), np.log2(1.25)),
        (ZChannel(0.0), 1.0),
        (ZChannel(1.0), 0.0),
    ],
)
def test_textbook_channels(channel, bits):
    for solver in (ClosedForm(), InteriorPoint(), BlahutArimoto()):
        result = capacity(channel, Unconstrained(), solver=solver)
        assert result.bits == pytest.approx(bits, abs=1e-9)


@pytest.mark.parametrize("p", [0.01, 0.2, 0.77, 0.99])
def test_z_channel(p):
    # C = log2(1 + (1 - p) p^(p / (1 - p)))
    result = capacity(ZChannel(p), Unconstrained(), solver=ClosedForm())
    assert result.bits == pytest.approx(np.log2(1 + (1 - p) * p ** (p / (1 - p))), abs=1e-14)


def test_a_peak_below_the_power_rules():
    result = capacity(Logistic(), Power(9.0) & Peak(2.0), solver=ClosedForm())
    assert result.bits == capacity(Logistic(), Power(4.0)).bits
    assert result.multiplier == 0.0
    wide = capacity(Logistic(), Power(4.0) & Peak(3.0), solver=ClosedForm())
    assert wide.multiplier > 0.0
    scaled = capacity(Probit(2.0), Peak(1.0), solver=ClosedForm())
    assert scaled.bits == pytest.approx(capacity(Probit(), Power(0.25)).bits, abs=1e-14)


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Probit(3.0)])
def test_unlimited_power_is_one_bit(channel):
    assert capacity(channel, Power(np.inf), solver=ClosedForm()).bits == 1.0


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("power", [0.3, 12.0])  # below and above u* for every K >= 3
def test_softmax_agrees_with_the_solver(classes, power):
    formula = capacity(Softmax(classes), Power(power), solver=ClosedForm())
    found = capacity(Softmax(classes), Power(power), solver=Continuous())
    assert found.bits == pytest.approx(formula.bits, abs=1e-9)  # the solver's certified gap
    on_off = classes > 2 and power < 0.5
    assert len(formula.input) == classes + on_off
    assert ("on-off" in formula.stats.method) == on_off


@pytest.mark.parametrize("power", [0.3, 12.0])
def test_two_classes_are_the_logistic_at_twice_the_power(power):
    two = capacity(Softmax(2), Power(power))
    assert two.bits == pytest.approx(capacity(Logistic(), Power(2 * power)).bits, abs=1e-12)


def test_what_has_no_formula():
    for channel, constraint in (
        (Ordinal([-1.0, 1.0]), Power(4.0)),
        (Logistic(), Cost(np.abs, 1.0)),
        (BinarySymmetric(0.1), Power(0.5)),
    ):
        assert attempt(Problem(channel, constraint)) is None
        with pytest.raises(InvalidArgument, match="closed form"):
            capacity(channel, constraint, solver=ClosedForm())
