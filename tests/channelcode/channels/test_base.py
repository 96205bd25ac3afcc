"""The abstract channel: what it checks, derives and forbids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gammainc, gammaln

from channelcode import (
    Channel,
    DiscreteMeasure,
    Gaussian,
    Logistic,
    Peak,
    Softmax,
    capacity,
    mutual_information,
)
from channelcode.channels.base import numerical_derivatives
from channelcode.errors import InvalidArgument
from channelcode.testing import check_channel


class TruncatedPoisson(Channel):
    """Y = min(Poisson(exp l), 20)."""

    dim, num_outputs = 1, 21

    def log_prob(self, l):
        k, rate = np.arange(20.0), np.exp(np.minimum(l, 700.0))
        counts = k * l[..., None] - rate[..., None] - gammaln(k + 1)
        with np.errstate(divide="ignore"):
            rest = np.log(gammainc(20.0, rate))
        return np.concatenate([counts, rest[..., None]], axis=-1)


def test_a_truncated_poisson_channel_in_fifteen_lines_is_complete():
    check_channel(TruncatedPoisson())
    info = mutual_information(TruncatedPoisson(), Gaussian(0.5, 2.0))
    assert 1.0 < info.bits < np.log2(21)
    assert info.error < 1e-10


@pytest.mark.parametrize("bad", [np.nan, [0.0, np.inf], [], "text", [[1.0], [2.0, 3.0]], 1j])
def test_bad_scalar_input(bad):
    for method in (Logistic().log_prob, Logistic().prob, Logistic().derivatives):
        with pytest.raises(ValueError, match=r"^l must"):
            method(bad)


@pytest.mark.parametrize("bad", [0.0, [1.0, 2.0], np.zeros((4, 2)), np.zeros((0, 3))])
def test_bad_vector_input(bad):
    with pytest.raises(InvalidArgument, match="l must") as caught:
        Softmax(3).log_prob(bad)
    assert caught.value.argument == "l"


@pytest.mark.parametrize(
    "q", [[0.5, 0.6], [-0.5, 1.5], [1.0], [np.nan, 1.0], [[0.5, 0.5]], [0.2, 0.3, 0.5]]
)
def test_divergence_refuses_a_bad_law(q):
    with pytest.raises(InvalidArgument, match=r"^q "):
        Logistic().divergence(0.0, q)


def test_divergence_is_infinite_where_the_law_misses_an_output():
    assert Logistic().divergence(0.0, [0.0, 1.0]) == np.inf


def test_log_prob_of_the_wrong_shape_is_named():
    class Wrong(Channel):
        dim, num_outputs = 1, 3

        def log_prob(self, l):
            return np.log(np.full((*l.shape, 2), 0.5))

    with pytest.raises(InvalidArgument, match=r"Wrong\.log_prob must return shape \(4, 3\)"):
        Wrong().log_prob(np.zeros(4))


def test_missing_attributes_are_named():
    class Half(Channel):
        dim = 1

        def log_prob(self, l):
            return np.log(np.full((*l.shape, 2), 0.5))

    with pytest.raises(TypeError, match="Half must set num_outputs"):
        Half().log_prob(0.0)


def test_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Channel()  # type: ignore[abstract]


def test_float32_from_a_user_becomes_float64():
    class Single(Channel):
        dim, num_outputs = 1, 2

        def log_prob(self, l):
            return np.log(np.full((*l.shape, 2), 0.5, dtype=np.float32))

    assert Single().log_prob([0.0]).dtype == np.float64


@pytest.mark.parametrize("l", [-3.0, 0.0, 0.7, 12.0])
def test_numerical_derivatives_reach_a_millionth(l):
    exact, numerical = Logistic().derivatives(l), numerical_derivatives(Logistic(), l)
    # the promise of the docstring: 1e-6 of the size of the result
    np.testing.assert_allclose(numerical.gradient, exact.gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(numerical.hessian, exact.hessian, rtol=1e-6, atol=1e-6)


def test_numerical_derivatives_in_space(rng):
    points = rng.standard_normal((5, 3))
    exact, numerical = Softmax(3).derivatives(points), numerical_derivatives(Softmax(3), points)
    np.testing.assert_allclose(numerical.gradient, exact.gradient, atol=1e-6)
    np.testing.assert_allclose(numerical.hessian, exact.hessian, atol=1e-6)


def test_sampling_never_draws_the_impossible():
    class Sure(Channel):
        dim, num_outputs = 1, 4

        def log_prob(self, l):
            row = np.array([-np.inf, 0.0, -np.inf, -np.inf])
            return np.broadcast_to(row, (*l.shape, 4))

    assert (Sure().sample(np.zeros(1000), rng=1) == 1).all()


def test_sampling_refuses_a_bad_rng():
    with pytest.raises(InvalidArgument, match="rng must be"):
        Logistic().sample(0.0, rng="seed")  # type: ignore[arg-type]


def test_derivatives_of_a_users_own_channel_get_checked_input():
    class Own(Channel):
        dim, num_outputs = 1, 2

        def log_prob(self, l):
            return Logistic().log_prob(l)

        def derivatives(self, l):
            assert isinstance(l, np.ndarray)
            return Logistic().derivatives(l)

    found, expected = Own().derivatives([0.0, 1.0]), Logistic().derivatives([0.0, 1.0])
    np.testing.assert_array_equal(found.gradient, expected.gradient)
    with pytest.raises(InvalidArgument, match="l must"):
        Own().derivatives([np.nan])


def test_channels_written_for_one_number_are_refused_by_name():
    class Branching(Channel):
        dim, num_outputs = 1, 2

        def log_prob(self, l):
            p = 0.2 if l > 0 else 0.7
            return np.log([p, 1.0 - p])

    class Scalar(Channel):
        support = (-np.inf, np.inf)

        def log_density(self, y, l):
            return -np.log(np.pi) - math.log1p((y - l) ** 2)

    law = DiscreteMeasure([-1.0, 1.0], [0.5, 0.5])
    for channel, name in ((Branching(), "log_prob"), (Scalar(), "log_density")):
        with pytest.raises(InvalidArgument, match=rf"{name} must take arrays, and is not"):
            capacity(channel, Peak(1.0))
        with pytest.raises(InvalidArgument, match=rf"{name} must take arrays, and is not"):
            mutual_information(channel, law)


def test_other_errors_of_a_users_channel_are_its_own():
    class Broken(Channel):
        dim, num_outputs = 1, 2

        def log_prob(self, l):
            raise ValueError("no table for this input")

    with pytest.raises(ValueError, match=r"^no table for this input$"):
        Broken().log_prob(np.zeros(3))
