"""Capacity curves of many channels: those of one process, whoever finds them."""

from __future__ import annotations

import numpy as np
import pytest

from apm.studies import capacity_sweep
from channelcode import Lapse, Logistic, Ordinal, Probit, capacity_curve
from channelcode.errors import InvalidArgument, NotConverged
from tests.apm.clusters import local_cluster

CHANNELS = {
    "logit": Logistic(),
    "ordinal": Ordinal([-1.0, 1.0]),
    "lapse": Lapse(Probit(), 0.1),
}
POWERS = [0.5, 2.0, 4.0]


def assert_same(found) -> None:
    assert list(found) == list(CHANNELS)
    for name, channel in CHANNELS.items():
        expected = capacity_curve(channel, POWERS)
        for field in ("bits", "lower", "upper", "gap", "multiplier"):
            np.testing.assert_array_equal(getattr(found[name], field), getattr(expected, field))
        one, other = found[name].results[1].input, expected.results[1].input
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_in_one_process_and_by_workers() -> None:
    assert_same(capacity_sweep(CHANNELS, POWERS))
    assert_same(capacity_sweep(CHANNELS, POWERS, workers=2))


def test_on_a_cluster() -> None:
    with local_cluster(1, processes=False) as cluster:
        assert_same(capacity_sweep(CHANNELS, POWERS, dask=cluster.scheduler_address))


@pytest.mark.slow
def test_on_a_cluster_of_two_processes() -> None:
    with local_cluster(2) as cluster:
        assert_same(capacity_sweep(CHANNELS, POWERS, dask=cluster))


@pytest.mark.parametrize("wrong", [{}, [Logistic()], {"a": 3}, {3: Logistic()}], ids=str)
def test_what_is_no_channel(wrong) -> None:
    with pytest.raises(InvalidArgument, match="channels must be"):
        capacity_sweep(wrong, POWERS)


def test_what_fails_is_told() -> None:
    with pytest.raises(InvalidArgument, match="powers"):
        capacity_sweep(CHANNELS, [])
    with pytest.raises(InvalidArgument, match="workers"):
        capacity_sweep(CHANNELS, POWERS, workers=0)
    with pytest.raises(NotConverged):
        capacity_sweep({"ordinal": CHANNELS["ordinal"]}, POWERS, tol=1e-300)
