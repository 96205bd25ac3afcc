"""The contract itself: it passes good channels and says what is wrong with bad ones."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode import DiscreteMeasure, Gaussian, Logistic, Measure
from channelcode.testing import channels, check_channel, gaussians, measures, stochastic_matrices
from tests.channelcode.channels.test_base import TruncatedPoisson
from tests.channelcode.testing.mistakes import MISTAKES, Good


class Impossible(Good):
    num_outputs = 3

    def log_prob(self, l):
        pair = Logistic().log_prob(l)
        return np.concatenate([pair, np.full((*l.shape, 1), -np.inf)], axis=-1)


@pytest.mark.parametrize(
    ("channel", "message"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_each_mistake_is_named(channel, message):
    with pytest.raises(AssertionError, match=message):
        check_channel(channel)


def test_the_table_of_mistakes_is_long_enough():
    """At least 28, each in its own words; nothing in the table is let through."""
    assert len({name for name, _, _ in MISTAKES}) == len(MISTAKES) >= 28


@pytest.mark.parametrize("seed", [1, 2])
def test_mistakes_are_found_whatever_the_seed(seed):
    for _, channel, message in MISTAKES:
        with pytest.raises(AssertionError, match=message):
            check_channel(channel, rng=seed)


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
        "from tests.channelcode.testing.mistakes import MISTAKES\n"
        "from channelcode.testing import check_channel\n"
        "try:\n    check_channel(MISTAKES[0][1])\n"
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
