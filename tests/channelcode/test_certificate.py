"""Certificates: an interval that cannot be turned round."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from channelcode import Certificate, InvalidArgument, SolveStats, Status


def test_interval():
    certificate = Certificate(0.25, 0.5)
    assert certificate.gap == 0.25
    assert 0.3 in certificate
    assert 0.6 not in certificate


@pytest.mark.parametrize("ends", [(1.0, 0.0), (np.nan, 1.0), (0.0, np.nan)])
def test_a_negative_gap_is_a_bug(ends):
    with pytest.raises(InvalidArgument, match="a negative gap is a bug"):
        Certificate(*ends)


def test_a_point_is_an_interval():
    assert Certificate(1.0, 1.0).gap == 0.0


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Certificate(0.0, 1.0).lower = 2.0  # type: ignore[misc]


def test_status_is_advice():
    assert Status.OPTIMAL.ok
    for status in Status:
        assert len(status.value) > 20
        assert status.ok == (status is Status.OPTIMAL)


def test_stats():
    first, second = SolveStats("newton"), SolveStats("newton")
    first.details["rounds"] = 3
    assert second.details == {}
