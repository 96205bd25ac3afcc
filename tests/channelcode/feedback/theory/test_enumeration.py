"""Exact figures over all output sequences: the stored ones, closed forms, and P4."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings

from channelcode import (
    BinaryErasure,
    DiscreteChannel,
    DiscreteMeasure,
    InvalidArgument,
    Logistic,
    Power,
    capacity,
)
from channelcode.feedback import (
    Horstein,
    OrderedPartition,
    PosteriorMatching,
    Rounded,
    Shifted,
    enumerate_outputs,
)
from tests.channelcode.feedback.oracles import channels, golden_channel, golden_input

NAMES = ("bsc_1/10", "bec_1/4", "z_1/2", "ternary_sym_8/10", "ternary_asym")
TYPEWRITER = DiscreteChannel(
    [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5]]
)


@pytest.fixture(scope="module")
def figures(reference):
    return reference("feedback")


@pytest.mark.parametrize(
    "name", ["bsc_1/10", "bec_1/4", "z_1/2", "ternary_sym_8/10", "ternary_asym"]
)
def test_enumeration_agrees(figures, name):
    golden = figures["enumeration"][name]
    scheme = PosteriorMatching(
        golden_channel(figures, name), input=golden_input(figures["channels"][name]["input"])
    )
    found = enumerate_outputs(scheme, golden["n"])
    exact = np.arange(golden["n"] + 1) * float(figures["channels"][name]["information"])
    # the stored sums of up to 5e5 terms are right to 1e-10, most to 1e-12
    np.testing.assert_allclose(found.information_bits, exact, atol=1e-10)
    np.testing.assert_allclose(found.expected_variance, golden["expected_variance"], atol=1e-10)
    np.testing.assert_allclose(found.correct, golden["correct_by_n_and_k"], atol=1e-10)


@pytest.mark.parametrize(
    "name", ["bsc_1/10", "bec_1/4", "z_1/2", "ternary_sym_8/10", "ternary_asym"]
)
def test_short_trees_agree_with_exact_rationals(figures, name):
    golden = figures["posterior"][name]
    scheme = PosteriorMatching(golden_channel(figures, name), input=golden_input(golden["input"]))
    found = enumerate_outputs(scheme, 3, bits=3)
    for row in golden["tree"]:
        variance = float(Fraction(row["expected_variance"]))
        assert found.expected_variance[row["n"]] == pytest.approx(variance, abs=1e-14)
        for bits, value in row["correct"].items():
            chance = found.correct[row["n"], int(bits)]
            assert chance == pytest.approx(float(Fraction(value)), abs=1e-13)


@pytest.mark.parametrize("power", ["1", "4", "16"])
def test_logistic_labels(figures, power):
    golden = figures["logistic"][power]
    scheme = PosteriorMatching(Logistic(), Power(float(power)))
    found = enumerate_outputs(scheme, 10)
    np.testing.assert_allclose(
        found.expected_variance, golden["expected_variance"][:11], atol=1e-10
    )
    np.testing.assert_allclose(found.correct, golden["correct_by_n_and_k"][:11], atol=1e-10)
    exact = capacity(Logistic(), Power(float(power)))
    np.testing.assert_allclose(
        found.information_bits, np.arange(11) * exact.bits, atol=1e-12 + 10 * exact.gap
    )


@given(channels())
@settings(max_examples=25)
def test_p4_information_is_n_times_that_of_one_use(pair):
    channel, law = pair
    for cuts in (Shifted(1), Rounded()):
        scheme = PosteriorMatching(channel, input=law, cuts=cuts)
        found = enumerate_outputs(scheme, 5, bits=2)
        exact = np.arange(6) * scheme.information_bits
        # 1e-10: the log of a density feels a cut that is placed to 1e-15 of the mass
        np.testing.assert_allclose(found.information_bits, exact, atol=1e-10)
        np.testing.assert_allclose(found.correct[:, 0], 1.0, atol=1e-12)


def test_erasures_have_closed_forms():
    found = enumerate_outputs(PosteriorMatching(BinaryErasure(0.25)), 9)
    for n in range(10):
        assert found.expected_variance[n] == pytest.approx((0.25 + 0.75 / 4) ** n / 12, abs=1e-15)
        for k in range(7):
            chance = sum(
                comb(n, j) * 0.75**j * 0.25 ** (n - j) * min(1.0, 2.0 ** (j - k))
                for j in range(n + 1)
            )
            assert found.correct[n, k] == pytest.approx(chance, abs=1e-13)


def test_where_a_bit_is_never_learned(figures):
    for order, letters in (("natural 0,1,2,3", [0, 1, 2, 3]), ("0,2,1,3", [0, 2, 1, 3])):
        scheme = PosteriorMatching(TYPEWRITER, input=DiscreteMeasure(letters, [0.25] * 4))
        found = enumerate_outputs(scheme, 5, bits=1)
        for row in figures["pathology"]["typewriter4"]["orders"][order]:
            exact = float(Fraction(row["correct_first_bit"]))
            assert found.correct[row["n"], 1] == pytest.approx(exact, abs=1e-13)
            assert found.information_bits[row["n"]] == pytest.approx(row["information"], abs=1e-12)
    shifted = PosteriorMatching(
        TYPEWRITER, input=DiscreteMeasure([0, 2, 1, 3], [0.25] * 4), cuts=Shifted()
    )
    assert enumerate_outputs(shifted, 5, bits=1).correct[5, 1] > 0.75


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="n must be at most"):
        enumerate_outputs(Horstein(0.1), 40)
    with pytest.raises(InvalidArgument, match="scheme"):
        enumerate_outputs(OrderedPartition(0.1), 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="bits"):
        enumerate_outputs(Horstein(0.1), 3, bits=30)
    with pytest.raises(InvalidArgument, match="n must be"):
        enumerate_outputs(Horstein(0.1), -1)
    assert enumerate_outputs(Horstein(0.1), 0).information_bits.tolist() == [0.0]
