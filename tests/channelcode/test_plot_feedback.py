"""Pictures of codes with feedback: what is drawn is what the transcript holds."""

# Odd types are what these tests are about.
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from channelcode import DiscreteChannel, DiscreteMeasure, InvalidArgument
from channelcode.feedback import (
    Confidence,
    Horstein,
    OrderedPartition,
    SchalkwijkKailath,
    Uses,
    transmit,
)
from channelcode.plot import information, maps, rates, waterfall


def test_waterfall():
    run = transmit(Horstein(0.1), 300, messages=1024, stop=Uses(20), rng=0)
    axes = waterfall(run).axes[0]
    (dots,) = [line for line in axes.lines if line.get_label() == "cuts"]
    assert len(np.asarray(dots.get_xdata())) == 20
    image = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert image.shape[0] == 21
    assert np.nanmax(image) == pytest.approx(list(run.states())[-1].log_densities.max(), abs=4)
    assert len(waterfall(run, zoom=True).axes) == 2
    # the other panel: masses by digits that agree with the message; each row is a law
    digits = np.ma.filled(waterfall(run).axes[1].images[0].get_array(), np.nan)
    assert digits.shape == (21, 11)
    np.testing.assert_allclose(digits.sum(axis=1), 1.0)
    np.testing.assert_allclose(digits[0], [*2.0 ** -np.arange(1.0, 11.0), 2.0**-10])
    last = list(run.states())[-1]
    place = np.searchsorted(last.intervals.ends, 300, side="right") - 1
    assert digits[-1, -1] == pytest.approx(2.0 ** (last.log_densities[place] - 10))
    with pytest.raises(InvalidArgument, match="posterior matching"):
        waterfall(transmit(OrderedPartition(0.1), 3, messages=8, stop=Uses(4), rng=0))


def test_waterfall_of_every_kind_of_message():
    for message, messages, uses in ((0.3, None, 12), (1, 3, 12), (2**299 + 5, 2**300, 600)):
        run = transmit(Horstein(0.1), message, messages=messages, stop=Uses(uses), rng=0)
        image = np.ma.filled(waterfall(run).axes[1].images[0].get_array(), np.nan)
        np.testing.assert_allclose(image.sum(axis=1), 1.0)
        assert len(image) <= 500  # long runs are thinned out


def test_information():
    run = transmit(Horstein(0.1), 2**200, messages=2**300, stop=Uses(50), rng=0)
    axes = information(run).axes[0]
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines}
    np.testing.assert_allclose(lines["log2 density at the truth"][1:], run.truth_bits)
    assert lines["n I(p, W)"][-1] == pytest.approx(50 * run.scheme.information_bits)
    with pytest.raises(InvalidArgument, match="letters"):
        information(transmit(SchalkwijkKailath(1.0), 0.2, stop=Uses(3), rng=0))


def test_rates_and_maps():
    axes = rates([OrderedPartition(0.11)], [1, 2], stop=Confidence(1e-2)).axes[0]
    assert {line.get_label() for line in axes.lines} >= {"no code (Fano)"}
    rows = [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0.5, 0, 0, 0.5]]
    figure = maps(DiscreteChannel(rows), DiscreteMeasure([0, 2, 1, 3], [0.25] * 4))
    assert "never learned" in figure.axes[0].get_title()
