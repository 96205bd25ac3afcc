"""Certificates: an interval that cannot be turned round."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from channelcode import Certificate, InvalidArgument, NotConverged, SolveStats, Status
from channelcode.certificate import conclude


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


@pytest.mark.parametrize(
    "best, exhausted, upper, status",
    [
        (Status.OPTIMAL, False, 1.05, Status.OPTIMAL),
        (Status.OPTIMAL, True, 1.05, Status.OPTIMAL),  # steps ran out, the proof did not
        (Status.OPTIMAL, False, 1.5, Status.STALLED),
        (Status.OPTIMAL, True, 1.5, Status.MAX_STEPS),
        (Status.OPTIMAL, False, np.inf, Status.STALLED),
        (Status.WITHIN_SCOPE, False, 1.05, Status.WITHIN_SCOPE),
        (Status.WITHIN_SCOPE, False, 1.5, Status.STALLED),
        (Status.BOUND_ONLY, False, 1.5, Status.BOUND_ONLY),
    ],
)
def test_the_status_follows_from_the_certificate(best, exhausted, upper, status):
    def finish(throw: bool) -> Status:
        interval = Certificate(1.0, upper)
        return conclude(lambda s: s, interval, tol=0.1, throw=throw, exhausted=exhausted, best=best)

    assert finish(throw=False) is status
    if status in (Status.STALLED, Status.MAX_STEPS):
        with pytest.raises(NotConverged, match="above tol") as caught:
            finish(throw=True)
        assert caught.value.result is status
    else:
        assert finish(throw=True) is status
