"""Pools in files that the tests of labelling share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from apm.label import LabelFile, RowNames
from apm.tables import read_table


def numbers(folder: Path, rows: int = 20, features: int = 3, seed: int = 3) -> Path:
    """A pool of numbers and what their first column says."""
    X = np.random.default_rng(seed).normal(size=(rows, features))
    head = ",".join(f"x{place}" for place in range(features))
    lines = [",".join(map(repr, row)) for row in X.round(4).tolist()]
    path = folder / "pool.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def reviews(folder: Path, rows: int = 30) -> Path:
    """A pool with an id, a number and a text."""
    rng = np.random.default_rng(5)
    words = [["good", "great", "fine"], ["bad", "poor", "awful"]]
    lines = ["sku,price,review"]
    for row in range(rows):
        said = " ".join(rng.choice([*words[row % 2], "the", "thing", "was"], 6))
        lines.append(f"s-{row},{rng.normal():.3f},{said}")
    path = folder / "reviews.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def label_file(pool: Path, column: str | None = None, name: str = "labels.csv") -> LabelFile:
    return LabelFile(pool.with_name(name), RowNames(read_table(pool), column))
