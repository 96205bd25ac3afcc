"""What a tile is found to hold in one go is what its rows hold one by one."""

from __future__ import annotations

import numpy as np
import pytest

from apm._kernels.kept_bounds import changed_forms, moved_form, range_scores
from apm._kernels.line_tiles import STEP, line_tile
from tests.kernel_checks import assert_matches_py_func

FORM = (2.0, 0.02, 1e-9, 1.0, 0.0, 0.0, -0.1, 0.2)
SIGNAL = (0.5, 0.01, 1e-9, 1.1, -0.02, 0.03, -0.05, 0.06)
RULE, ROOTS = (0.4, 1.6, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0), (1.0, 1.1, 2.0)
NONE = (np.inf, np.inf, np.inf)


def tile(rng, n, columns=3, dtype=np.float32):
    codes = rng.integers(256, size=(2, n)).astype(np.uint8)
    turn = 0.1 * rng.normal(size=(columns, 2))
    turn[:1, 0] = 0.0
    image = rng.normal(size=(columns, n)).astype(dtype)
    return codes, turn, image, rng.normal(size=n).astype(dtype)


def one_by_one(codes, turn, image, mean):
    change = changed_forms(image, turn)
    least, most, then = moved_form(codes[0], change[0], change[0], FORM)
    weak, strong, _ = moved_form(codes[1], change[1], then + 0.05, SIGNAL)
    return np.stack(range_scores(mean, 0.01, least, most, weak, strong, RULE, ROOTS)), change


def glance(codes, turn, image, mean, limits):
    return line_tile(
        codes[0], codes[1], turn, image, mean, 0.01, FORM, SIGNAL, 0.05, RULE, ROOTS, limits
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, STEP - 1, STEP, 2 * STEP + 7])
def test_a_tile_is_its_rows(rng: np.random.Generator, n, dtype) -> None:
    given = tile(rng, n, dtype=dtype)
    values, change = one_by_one(*given)
    every = np.concatenate((values, change, [np.abs(given[-1])]))
    for limits in (
        NONE,
        (-np.inf, np.inf, np.inf),
        (np.inf, -np.inf, np.inf),
        (np.quantile(values[0], 0.9), np.quantile(values[0], 0.8), np.quantile(values[3], 0.95)),
        (np.quantile(values[0], 0.8), np.quantile(values[0], 0.9), np.inf),
    ):
        rows, some, largest = glance(*given, limits)
        aside = values[0] >= limits[0]
        stand = aside | (values[0] > limits[1]) | (values[3] > limits[2])
        # rows at a limit may fall to either side of it by rounding
        near = np.isclose(values[0], limits[0]) | np.isclose(values[0], limits[1])
        near |= np.isclose(values[3], limits[2])
        assert set(np.flatnonzero(stand & ~near)) <= set(rows) <= set(np.flatnonzero(stand | near))
        np.testing.assert_allclose(some, values[:, rows], rtol=1e-12)
        rest = np.where(aside, -np.inf, every)[:4]
        if not near.any():
            np.testing.assert_allclose(largest[:4], rest.max(axis=1), rtol=1e-12)
        np.testing.assert_allclose(largest[4:], every[4:].max(axis=1), rtol=1e-12)


def test_it_is_what_it_is_uncompiled(rng: np.random.Generator) -> None:
    codes, turn, image, mean = tile(rng, 70)
    limits = (2.0, 1.0, 3.0)
    assert_matches_py_func(
        line_tile, codes[0], codes[1], turn, image, mean, 0.01, FORM, SIGNAL, 0.05, RULE, ROOTS,
        limits,
    )  # fmt: skip


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("where", ["image", "mean"])
def test_an_overflow_is_told(rng: np.random.Generator, wrong, where) -> None:
    codes, turn, image, mean = tile(rng, STEP + 9)
    (image[1] if where == "image" else mean)[STEP + 3] = wrong
    largest = glance(codes, turn, image, mean, NONE)[2]
    assert not np.isfinite(largest[-1])


def test_no_columns(rng: np.random.Generator) -> None:
    codes, turn, image, mean = tile(rng, 9, columns=0)
    values, _ = one_by_one(codes, turn, image, mean)
    largest = glance(codes, turn, image, mean, NONE)[2]
    np.testing.assert_allclose(largest[:4], values.max(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(largest[4:6], 0.0)
