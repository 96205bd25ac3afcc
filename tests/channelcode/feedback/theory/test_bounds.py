from __future__ import annotations

from math import inf

import numpy as np
import pytest

from channelcode import (
    BinaryErasure,
    BinarySymmetric,
    DiscreteMeasure,
    InvalidArgument,
    Logistic,
    Power,
    ZChannel,
)
from channelcode.feedback import (
    Confidence,
    Horstein,
    OrderedPartition,
    PosteriorMatching,
    Uses,
    bounds,
)
from tests.channelcode.feedback.oracles import golden_channel


def test_constants(reference):
    figures = reference("feedback")
    for crossover, golden in figures["bsc_constants"].items():
        found = bounds(BinarySymmetric(float(crossover)), 16)
        assert found.capacity_bits == pytest.approx(float(golden["C"]), abs=1e-9)
        assert found.c1_bits == pytest.approx(float(golden["C1"]), rel=1e-12)
        assert found.c2_bits == pytest.approx(float(golden["C2"]), rel=1e-12)
    for name, golden in figures["channels"].items():
        found = bounds(golden_channel(figures, name), 16)
        assert found.c1_bits == pytest.approx(float(golden["C1"]), rel=1e-12)
    for power, golden in figures["logistic"].items():
        found = bounds(PosteriorMatching(Logistic(), Power(float(power))), 16)
        assert found.c1_bits == pytest.approx(float(golden["C1"]), rel=1e-9)
        assert found.two_phase is not None  # at its optimum the channel is a BSC


def test_scheme_and_channel_say_the_same():
    plain = bounds(BinarySymmetric(0.11), 2**20)
    for scheme in (Horstein(0.11), OrderedPartition(0.11)):
        found = bounds(scheme, 2**20)
        assert found.fano == pytest.approx(plain.fano, rel=1e-8)
        assert found.two_phase == pytest.approx(plain.two_phase, rel=1e-12)


def test_burnashev():
    found = bounds(BinarySymmetric(0.11), 2**20)
    assert found.exponent(0.0) == pytest.approx(found.c1_bits)
    assert found.exponent(found.capacity_bits / 2) == pytest.approx(found.c1_bits / 2)
    assert found.exponent(1.0) == 0.0
    assert bounds(ZChannel(0.5), 8).exponent(0.1) == inf
    assert bounds(BinaryErasure(0.5), 8).burnashev == pytest.approx(6.0, abs=1e-6)
    with pytest.raises(InvalidArgument, match="rate_bits"):
        found.exponent(-0.1)


def test_burnashev_zigangirov():
    found = bounds(BinarySymmetric(0.1), 64, stop=Confidence(1e-3))
    assert found.zigangirov == 50
    assert 63 * 0.8**50 <= 1e-3 < 63 * 0.8**49


def test_letters_of_your_own():
    law = DiscreteMeasure([-1.0, 0.5], [0.5, 0.5])
    found = bounds(PosteriorMatching(Logistic(), input=law), 16)
    assert 0 < found.capacity_bits < 1
    assert np.isfinite(found.fano)
    assert found.two_phase is None


def test_bad_arguments():
    with pytest.raises(InvalidArgument, match="constraint"):
        bounds(Logistic(), 16)
    with pytest.raises(InvalidArgument, match="stop"):
        bounds(Horstein(0.1), 16, stop=Uses(4))
    with pytest.raises(InvalidArgument, match="scheme"):
        bounds("bsc", 16)  # type: ignore[arg-type]
