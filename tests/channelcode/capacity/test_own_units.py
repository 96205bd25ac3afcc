"""Densities of one's own do not depend on the unit of input and output, 2^-400 to 2^400."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from channelcode import (
    Channel,
    Cost,
    DiscreteMeasure,
    InvalidArgument,
    Peak,
    Power,
    Status,
    capacity,
    capacity_per_unit_cost,
    mutual_information,
)

SHIFTS = st.integers(-400, 400)
LIMITS = {
    "peak": lambda u: Peak(2.0 * u),
    "power": lambda u: Power(u * u),
    "power and peak": lambda u: Power(u * u) & Peak(2.0 * u),
    "cost": lambda u: Cost(lambda l: (l / u) ** 2, 1.0) & Peak(2.5 * u),
}
NOISE = {"normal": stats.norm(), "Student": stats.t(3)}


class Additive(Channel):
    """Y = l + noise in a unit, and says nothing of it."""

    support = (-np.inf, np.inf)

    def __init__(self, noise, unit):
        self.noise, self.unit = noise, unit

    def log_density(self, y, l):
        return self.noise.logpdf((y - l) / self.unit) - np.log(self.unit)


class Declared(Additive):
    """The same, and says where the output lies and how wide it is."""

    def output_range(self, l):
        return l - 12.0 * self.unit, l + 60.0 * self.unit

    def output_scale(self, l):
        return np.full_like(l, self.unit)


def assert_alike(shift, kind, noise):
    unit = 2.0**shift
    here = capacity(Additive(NOISE[noise], 1.0), LIMITS[kind](1.0))
    there = capacity(Additive(NOISE[noise], unit), LIMITS[kind](unit))
    assert there.status is here.status
    # two answers to one question, each within the tolerance of 1e-9
    assert there.lower <= here.upper
    assert here.lower <= there.upper
    price = 1.0 if kind == "cost" else unit * unit
    assert there.multiplier * price == pytest.approx(here.multiplier, rel=1e-4, abs=1e-6)
    assert np.abs(there.input.atoms).max() / unit <= 8.0
    assert isinstance(there.problem.channel, Additive)  # the one that was given


@pytest.mark.parametrize(
    ("shift", "kind", "noise"),
    [
        (-400, "power", "Student"),
        (-60, "power", "normal"),
        (60, "power and peak", "Student"),
        (400, "cost", "normal"),
        (-7, "cost", "Student"),
    ],
)
def test_the_unit_of_a_density_does_not_matter(shift, kind, noise):
    assert_alike(shift, kind, noise)


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(SHIFTS, st.sampled_from(sorted(NOISE)))
def test_the_unit_of_a_density_under_a_peak_does_not_matter(shift, noise):
    assert_alike(shift, "peak", noise)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(SHIFTS, st.sampled_from([Additive, Declared]))
def test_information_and_rates_in_any_unit(shift, kind):
    unit = 2.0**shift
    law = DiscreteMeasure([-unit, unit], [0.5, 0.5])
    found = mutual_information(kind(stats.norm(), unit), law)
    assert found.bits == pytest.approx(0.485944154133, abs=1e-11)
    rate = capacity_per_unit_cost(kind(stats.norm(), unit))
    assert rate.nats * unit * unit == pytest.approx(0.5, rel=1e-8)


@pytest.mark.parametrize(
    "shift",
    [pytest.param(-300, marks=pytest.mark.slow), 0, pytest.param(300, marks=pytest.mark.slow)],
)
def test_a_rate_for_a_cost_of_ones_own_in_any_unit(shift):
    unit = 2.0**shift
    found = capacity_per_unit_cost(Additive(stats.cauchy(), unit), lambda l: np.abs(l) / unit)
    # D = ln(1 + l^2/4): the largest ln(1 + x^2/4)/x, at x = 3.9605826
    assert found.nats == pytest.approx(0.402371171275, rel=1e-9)
    assert found.letter / unit == pytest.approx(3.9605826, rel=1e-4)


class Hidden(Additive):
    """Even noise far narrower than its distance from zero and from the input."""

    def log_density(self, y, l):
        return np.where(np.abs(y - l - 1e6) <= 0.5e-3, np.log(1e3), -np.inf)


def test_what_cannot_be_found_is_refused_with_what_to_declare():
    with pytest.raises(InvalidArgument, match=r"output_range\(l\).*output_scale\(l\)"):
        capacity(Hidden(None, 1.0), Peak(1.0))


def test_messages_name_the_input_as_it_was_given():
    class Half(Additive):
        def log_density(self, y, l):
            return super().log_density(y, l) - np.log(np.where(l > 0.0, 2.0, 1.0))

    unit = 2.0**-100
    with pytest.raises(InvalidArgument, match=r"Half\.log_density .* at l = [0-9.]+e-3[01]"):
        capacity(Half(stats.norm(), unit), Peak(3.0 * unit))


def test_a_cost_flatter_than_the_divergence_has_no_finite_rate():
    """Was 1.6e7 nats, the ratio at the nearest probe, called the limit of small inputs."""
    found = capacity_per_unit_cost(Additive(stats.norm(), 1.0), lambda l: l**4)
    assert found.nats == np.inf
    steady = capacity_per_unit_cost(Additive(stats.norm(), 1.0), lambda l: l**2 * (1.0 + l**2))
    assert steady.nats == pytest.approx(0.5, rel=1e-8)


class Far(Channel):
    """Cauchy noise whose middle is 1e9 scales away: outputs are rounded by 1e-7 scales."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return stats.cauchy.logpdf(np.asarray(y) - 1e9 - l)


@pytest.mark.slow
def test_rounding_is_not_taken_for_a_ratio_without_a_limit():
    """Was infinite and OPTIMAL: three ratios near the free input rose, by rounding alone."""
    found = capacity_per_unit_cost(Far(), throw=False)
    assert found.nats < np.inf
    assert found.status is not Status.OPTIMAL
    assert 0.0 <= found.lower * np.log(2.0) <= 0.25 <= found.upper * np.log(2.0)


def test_an_infinite_rate_of_ones_own_density_is_seen_and_not_proved():
    found = capacity_per_unit_cost(Additive(stats.norm(), 1.0), lambda l: l**4)
    assert found.nats == np.inf
    assert found.status is Status.WITHIN_SCOPE


def test_a_rate_that_is_constant_lies_between_its_bounds():
    """D / l^2 = 1/2 everywhere; the bounds were [1/2 + 1e-11, 1/2 + 2e-11] where D is rounded."""
    unit = 2.0**400
    found = capacity_per_unit_cost(Additive(stats.norm(), unit), throw=False)
    scale = np.log(2.0) * unit * unit
    assert found.lower * scale <= 0.5 <= found.upper * scale


class Nameless(Channel):
    """No law, though it looks like one within the range of a search: e^(1e305) far out."""

    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        x = np.asarray(y) - l
        return -x - np.exp(-np.clip(x, -700.0, None))


def test_a_density_without_a_number_is_refused():
    """Was 0 nats with bounds [0, 0]: every divergence was NaN."""
    with np.errstate(all="ignore"), pytest.raises(InvalidArgument, match="of a density"):
        capacity_per_unit_cost(Nameless())
