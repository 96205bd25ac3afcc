"""Versions here and there."""

import numpy as np
import pytest

from apm.cluster.versions import (
    COMPARED,
    VersionMismatch,
    differences,
    require_same,
    told,
    versions,
)

SAME = dict.fromkeys(COMPARED, "1.2.3") | {"machine": "x86_64"}


def test_versions_name_what_results_rest_on():
    found = versions()
    assert found["numpy"] == np.__version__
    assert set(COMPARED) <= set(found)


@pytest.mark.parametrize("name", COMPARED)
def test_each_difference_is_told(name):
    (found,) = differences(SAME, SAME | {name: "0.9"})
    shown = "1.2" if name == "python" else "1.2.3"
    assert f"{shown} here, 0.9 there" in found
    assert name in found


def test_what_does_not_matter():
    assert differences(SAME, SAME | {"python": "1.2.9", "machine": "arm64"}) == []


def test_a_version_that_is_not_told_differs():
    assert differences(SAME, {k: v for k, v in SAME.items() if k != "numpy"})


def test_work_is_refused_elsewhere():
    require_same(versions())
    with pytest.raises(VersionMismatch, match=r"tcp://a: numpy 1.0 here, .* there.*same versions"):
        require_same(versions() | {"numpy": "1.0"}, "tcp://a")


def test_many_workers_are_told_in_few_words():
    found = told({f"tcp://{k}": ["numpy 1 here, 2 there"] for k in range(9)})
    assert "and 6 more" in found
    assert "tcp://4" not in found
