"""The cells between thresholds: each from the side where nothing cancels."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from channelcode import Cauchit, Cloglog, Logistic, Ordinal, Probit
from channelcode.channels.base import numerical_derivatives
from channelcode.channels.cells import cell_derivatives, cell_log_prob, ordered_thresholds


def test_thresholds_come_back_as_floats():
    assert ordered_thresholds([0, 1, 2.5]) == (0.0, 1.0, 2.5)
    assert ordered_thresholds(3) == (3.0,)


@pytest.mark.parametrize("width", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("l", [-8.0, 0.0, 8.0])
def test_a_narrow_cell_keeps_its_digits(width, l):
    for link, cdf in (
        (Logistic(), lambda x: 1 / (1 + mpmath.exp(-x))),
        (Probit(), lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    ):
        with mpmath.workdps(60):
            wanted = float(mpmath.log(cdf(mpmath.mpf(width) - l) - cdf(mpmath.mpf(0) - l)))
        got = cell_log_prob(link, (0.0, width), np.asarray(l))[1]
        # from two logs good to 1e-15 the cell is good to 1e-15 / width, relative to width
        assert got == pytest.approx(wanted, abs=1e-14 / width)


def test_logistic_derivatives_match_differences():
    cuts, l = (-1.0, 0.5), np.linspace(-6, 6, 13)
    found = cell_derivatives(Ordinal(cuts), Logistic(), np.asarray(cuts), l)
    wanted = numerical_derivatives(Ordinal(cuts), l)
    np.testing.assert_allclose(found.gradient, wanted.gradient, atol=1e-6)
    np.testing.assert_allclose(found.hessian, wanted.hessian, atol=1e-6)


@pytest.mark.parametrize("l", [-30.0, -3.0, -0.2, 0.0, 0.9, 4.0, 25.0])
@pytest.mark.parametrize("link", [Probit(0.7), Cauchit(), Cloglog()], ids=repr)
def test_derivatives_of_cells_by_mpmath(link, l):
    """The slope of each ln[F(t_k - l) - F(t_{k-1} - l)], in many digits."""
    responses = {
        Probit: lambda x: mpmath.ncdf(x / mpmath.mpf(0.7)),
        Cauchit: lambda x: mpmath.mpf(1) / 2 + mpmath.atan(x) / mpmath.pi,
        Cloglog: lambda x: 1 - mpmath.exp(-mpmath.exp(x)),
    }
    response = responses[type(link)]
    cuts = (-1.0, 0.25, 2.0)
    channel = Ordinal(cuts, link=link)
    gradient, hessian = channel.derivatives(np.array([l]))
    with mpmath.workdps(160):
        for k in range(4):

            def log_cell(x, k=k):
                upper = response(cuts[k] - x) if k < 3 else mpmath.mpf(1)
                lower = response(cuts[k - 1] - x) if k > 0 else mpmath.mpf(0)
                return mpmath.log(upper - lower)

            if channel.log_prob(l)[k] < -80:  # so that 160 digits are enough
                continue
            first = float(mpmath.diff(log_cell, mpmath.mpf(l), 1, h=mpmath.mpf(10) ** -30))
            second = float(mpmath.diff(log_cell, mpmath.mpf(l), 2, h=mpmath.mpf(10) ** -30))
            # a difference of two densities of equal size loses some digits
            assert gradient[0, k] == pytest.approx(first, rel=1e-9, abs=1e-9)
            assert hessian[0, k] == pytest.approx(second, rel=1e-7, abs=1e-8)
