"""The contract itself: it passes good channels and says what is wrong with bad ones."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import Channel, DiscreteMeasure, Gaussian, Logistic, Measure
from channelcode.channels import Derivatives
from channelcode.testing import channels, check_channel, gaussians, measures, stochastic_matrices
from tests.channelcode.channels.test_base import TruncatedPoisson


def _logs(l, shift=0.0):
    return np.stack([-np.logaddexp(0, l), -np.logaddexp(0, -l) + shift], axis=-1)


class Good(Channel):
    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return _logs(l)


class NotNormalised(Good):
    def log_prob(self, l):
        return _logs(l, shift=-0.01)


class Positive(Good):
    def log_prob(self, l):
        return _logs(l, shift=0.5)


class NotANumber(Good):
    def log_prob(self, l):
        return np.where(l[..., None] > 50, np.nan, _logs(l))


class Overflowing(Good):
    def log_prob(self, l):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.stack([-np.log1p(np.exp(l)), l - np.log1p(np.exp(l))], axis=-1)


class Meddling(Good):
    def log_prob(self, l):
        result = _logs(l)
        if l.flags.writeable:
            l *= 2
        return result


class Forgetful(Good):
    calls = 0

    def log_prob(self, l):
        type(self).calls += 1
        return _logs(l + 1e-3 * type(self).calls)


class WrongGradient(Good):
    def derivatives(self, l):
        exact = Logistic().derivatives(l)
        return Derivatives(exact.gradient * 1.001, exact.hessian)


class WrongHessian(Good):
    def derivatives(self, l):
        exact = Logistic().derivatives(l)
        return Derivatives(exact.gradient, -exact.hessian)


class WrongShape(Good):
    def derivatives(self, l):
        exact = Logistic().derivatives(l)
        return Derivatives(exact.gradient[..., None], exact.hessian)


class Batched(Good):
    def log_prob(self, l):
        return _logs(l - np.mean(l))


class FractionalOutputs(Good):
    num_outputs = 2.0


class Impossible(Good):
    num_outputs = 3

    def log_prob(self, l):
        pair = _logs(l)
        return np.concatenate([pair, np.full((*l.shape, 1), -np.inf)], axis=-1)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (NotNormalised, "must sum to one"),
        (Positive, "must not exceed 0"),
        (NotANumber, "accept every finite input.*NaN"),
        (Overflowing, "must sum to one; at l = 1000.0"),
        (Meddling, "must not write into its argument"),
        (Forgetful, "one by one|same answer"),
        (WrongGradient, "gradient is wrong"),
        (WrongHessian, "hessian is wrong"),
        (WrongShape, "derivatives must have shapes"),
        (Batched, "one by one"),
        (FractionalOutputs, "num_outputs must be an integer"),
    ],
)
def test_each_fault_is_named(channel, message):
    with pytest.raises(AssertionError, match=message):
        check_channel(channel())


def test_good_channels_pass():
    check_channel(Good())
    check_channel(TruncatedPoisson())


def test_an_impossible_output_is_allowed_unless_forbidden():
    check_channel(Impossible())
    with pytest.raises(AssertionError, match="must be finite"):
        check_channel(Impossible(), require_finite=True)


@pytest.mark.parametrize("thing", [Logistic, None, 3])
def test_only_channels_are_checked(thing):
    with pytest.raises(AssertionError, match="must be an instance"):
        check_channel(thing)


def test_faults_are_named_under_optimised_python():
    program = (
        "from tests.channelcode.test_testing import NotNormalised\n"
        "from channelcode.testing import check_channel\n"
        "try:\n    check_channel(NotNormalised())\n"
        "except AssertionError as error:\n    print('found', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "found" in done.stdout
    assert "must sum to one" in done.stdout


def test_the_module_needs_no_hypothesis():
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from channelcode import Logistic\n"
        "from channelcode.errors import MissingExtra\n"
        "from channelcode.testing import channels, check_channel\n"
        "check_channel(Logistic())\n"
        "try:\n    channels()\nexcept MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "channelcode[dev]" in done.stdout


@settings(max_examples=40)
@given(channels())
def test_drawn_channels_keep_the_contract(channel):
    check_channel(channel)


@settings(max_examples=20)
@given(st.data())
def test_channels_can_be_narrowed(data):
    assert data.draw(channels(dim=1)).dim == 1
    assert data.draw(channels(dim=4)).dim == 4
    assert data.draw(channels(finite=True)).inputs is not None
    assert data.draw(channels(finite=False)).inputs is None


@given(gaussians(dim=3, sigma=(0.1, 2.0)))
def test_gaussians(law):
    assert isinstance(law, Gaussian)
    assert law.dim == 3
    sizes = np.sqrt(np.linalg.eigvalsh(law.covariance))
    assert 0.0999 < sizes.min() <= sizes.max() < 2.001


@given(st.integers(1, 3).flatmap(lambda k: st.tuples(st.just(k), measures(dim=k))))
def test_measures(case):
    dim, law = case
    assert isinstance(law, Measure)
    assert law.dim == dim
    assert np.isfinite(law.second_moment)
    if isinstance(law, DiscreteMeasure):
        assert law.weights.sum() == pytest.approx(1.0)


@given(stochastic_matrices(most_inputs=4, most_outputs=6))
def test_stochastic_matrices(matrix):
    assert 1 <= matrix.shape[0] <= 4
    assert 2 <= matrix.shape[1] <= 6
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
