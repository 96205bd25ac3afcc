"""The checks of the public boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from channelcode import _validation as check
from channelcode.errors import InvalidArgument


@pytest.mark.parametrize("good", [1, 1.5, [1, 2], np.float32(2.0), (True, False), [Fraction(1, 2)]])
def test_numbers_become_float64(good):
    found = check.finite_array("x", good)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, np.array(good, dtype=float))


@pytest.mark.parametrize(
    "bad", [np.nan, [1.0, np.inf], [], "text", 1j, [[1.0], [2.0, 3.0]], None, object(), ["1", "2"]]
)
def test_other_things_are_refused(bad):
    with pytest.raises(InvalidArgument, match=r"^x must"):
        check.finite_array("x", bad)


def test_the_place_of_a_bad_entry_is_told():
    with pytest.raises(InvalidArgument, match=r"nan at index \(1, 0\)"):
        check.finite_array("x", [[1.0, 2.0], [np.nan, 3.0]])


def test_axes():
    with pytest.raises(InvalidArgument, match="must have 1 or 2 axes"):
        check.finite_array("x", 1.0, ndim=(1, 2))
    assert check.finite_array("x", [1.0], ndim=1).shape == (1,)


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (check.number, [-1, 0.5], [np.nan, [1.0, 2.0], "a"]),
        (check.positive, [1e-300, 2], [0, -1, np.inf]),
        (check.non_negative, [0, 2.5], [-1e-300, np.nan]),
        (check.probability, [0, 0.5, 1], [-1e-9, 1.0000001, np.nan]),
    ],
)
def test_scalars(function, good, bad):
    for value in good:
        assert function("x", value) == value
    for value in bad:
        with pytest.raises(InvalidArgument, match=r"^x must"):
            function("x", value)


def test_integers():
    assert check.integer("n", np.int64(3), least=2) == 3
    for bad in (1, 2.0, "3", None, True, np.bool_(True)):
        with pytest.raises(InvalidArgument, match=r"^n must be"):
            check.integer("n", bad, least=2)


def test_distributions_are_normalised():
    found = check.distribution("p", [0.5, 0.5 + 1e-12])
    assert found.sum() == pytest.approx(1.0, abs=2e-16)  # one rounding
    for bad in ([0.5, 0.5 + 1e-6], [-0.1, 1.1], 1.0, [], [np.nan, 1.0]):
        with pytest.raises(InvalidArgument, match=r"^p must"):
            check.distribution("p", bad)


def test_read_only_copies():
    source = np.zeros(3)
    copy = check.read_only(source)
    source[0] = 1.0
    assert copy[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 2.0


def test_generators():
    generator = np.random.default_rng(0)
    assert check.as_generator(generator) is generator
    assert check.as_generator(5).random() == np.random.default_rng(5).random()
    assert check.as_generator(None).random() != check.as_generator(None).random()
    for bad in (-1, 1.5, "seed", np.random.RandomState(0)):
        with pytest.raises(InvalidArgument, match=r"^rng must be"):
            check.as_generator(bad)  # type: ignore[arg-type]
