"""Tables: read back they are the numbers that were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apm.studies.engine.tables import read_csv, write_csv
from channelcode.errors import InvalidArgument


def test_reading_gives_the_same_numbers(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=50) * 10.0 ** np.arange(-25, 25)
    names = [f'a "name", {place}' for place in range(50)]
    path = write_csv(
        tmp_path / "deep" / "a.csv", ("name", "value"), zip(names, values, strict=True)
    )
    found = read_csv(path)
    assert [row["name"] for row in found] == names
    assert [float(row["value"]) for row in found] == values.tolist()


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"areas\.csv"):
        read_csv(tmp_path / "areas.csv")
