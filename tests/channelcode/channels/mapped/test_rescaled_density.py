"""The same density in other units: its values, and what the channel declares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from channelcode import AdditiveGaussian, AdditiveLaplace, Exponential, InvalidArgument, Logistic
from channelcode.channels.mapped.rescaled_density import RescaledDensity, as_given

UNIT = 2.0**-30


def test_declarations_are_seen_in_the_units():
    inner = AdditiveLaplace(UNIT)
    seen: Any = RescaledDensity(inner, UNIT, UNIT)
    plain, l = AdditiveLaplace(1.0), np.array([-2.0, 0.5, 3.0])
    y = np.array([[0.0], [1.0]])
    np.testing.assert_allclose(seen.log_density(y, l), plain.log_density(y, l), rtol=1e-12)
    np.testing.assert_allclose(seen.output_range(l), plain.output_range(l))
    np.testing.assert_allclose(seen.output_scale(l), plain.output_scale(l))
    np.testing.assert_allclose(seen.kinks(l), plain.kinks(l))
    np.testing.assert_allclose(
        seen.divergence_between(l, 1.0), plain.divergence_between(l, 1.0), rtol=1e-12
    )
    np.testing.assert_allclose(seen.sample(l, rng=3), inner.sample(l * UNIT, rng=3) / UNIT)
    assert as_given(seen, 2.0) == (inner, 2.0 * UNIT)
    assert as_given(inner, 2.0) == (inner, 2.0)


def test_what_is_not_declared_stays_so():
    seen = RescaledDensity(AdditiveGaussian(), 2.0)
    assert seen.kinks is None
    assert seen.domain == (-np.inf, np.inf)


@pytest.mark.parametrize("units", [(0.0, 1.0), (1.0, -1.0), (np.nan, 1.0)])
def test_units_are_positive(units):
    with pytest.raises(InvalidArgument):
        RescaledDensity(AdditiveGaussian(), *units)


def test_refused():
    with pytest.raises(InvalidArgument, match="density"):
        RescaledDensity(Logistic(), 2.0)
    with pytest.raises(InvalidArgument, match="do not fill the line"):
        RescaledDensity(Exponential(), 1.0, 2.0)
