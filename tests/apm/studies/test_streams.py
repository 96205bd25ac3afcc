"""Streams: named, repeatable, independent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.studies.streams import stream
from channelcode.errors import InvalidArgument

names = st.lists(st.one_of(st.text(max_size=5), st.integers(0, 200)), max_size=4)


@given(st.integers(0, 2**40), names)
def test_a_stream_is_decided_by_its_name(seed: int, path: list[str | int]) -> None:
    assert stream(seed, *path).integers(2**62) == stream(seed, *path).integers(2**62)


@given(st.integers(0, 2**40), names, names)
def test_other_names_give_other_streams(
    seed: int, one: list[str | int], other: list[str | int]
) -> None:
    if one == other and list(map(type, one)) == list(map(type, other)):
        return
    # equal 62-bit draws from different streams: one chance in 4e18
    assert stream(seed, *one).integers(2**62) != stream(seed, *other).integers(2**62)


def test_names_do_not_run_together() -> None:
    assert stream(0, "ab", "c").integers(2**62) != stream(0, "a", "bc").integers(2**62)
    assert stream(0, "1").integers(2**62) != stream(0, 1).integers(2**62)


def test_global_state_is_untouched() -> None:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    stream(0, "x").random(10)
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    np.testing.assert_equal(before, after)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="seed must be at least 0"):
        stream(-1, "x")
