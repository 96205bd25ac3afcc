"""The store: whole files or none, damage seen, other settings refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from apm.studies.engine.store import Store, StoreError, write_whole
from apm.studies.engine.trial import Run


def runs() -> list[Run]:
    return [
        Run(name, {"picks": np.arange(3), "accuracy": np.array([0.1, np.nan])}) for name in "ab"
    ]


def filled(folder: Path) -> Store:
    store = Store(folder)
    store.save("set", 0, runs(), {"fingerprint": "f", "seed": 1})
    return store


def test_what_is_saved_is_read(tmp_path: Path) -> None:
    store = filled(tmp_path)
    assert store.check("set", 0, "f") == "finished"
    assert store.check("set", 1, "f") == "missing"
    assert store.check("set", 0, "g") == "foreign"
    read = next(store.runs("set", 1, ("accuracy",)))
    assert [run.method for run in read] == ["a", "b"]
    np.testing.assert_array_equal(read[0].arrays["accuracy"], [0.1, np.nan])
    assert "picks" not in read[0].arrays
    assert (store.meta("set", 0) or {})["seed"] == 1
    assert store.meta("set", 9) is None


def test_no_file_needs_pickle(tmp_path: Path) -> None:
    store = filled(tmp_path)
    with np.load(store.path("set", 0), allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "text"])
def test_damage_is_seen(tmp_path: Path, damage: str) -> None:
    store = filled(tmp_path)
    path = store.path("set", 0)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        where = content.index(np.arange(3).tobytes())
        content[where] ^= 0xFF
    elif damage == "empty":
        content = bytearray()
    else:
        content = bytearray(b"not an archive")
    path.write_bytes(bytes(content))
    assert store.check("set", 0, "f") == "damaged"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"No space left.*run the same command again"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_interrupt_while_writing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        Store(tmp_path / "file").open({"set": "f"}, {})


def test_other_settings_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.open({"one": "f"}, {})
    store.open({"one": "f", "two": "g"}, {})  # a further data set goes on
    with pytest.raises(StoreError, match=r"results of one with other settings.*start over"):
        store.open({"one": "h"}, {})


def test_a_damaged_description_does_not_block(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "study.json").write_text("{")
    store.open({"one": "f"}, {})
    with pytest.raises(StoreError):
        store.open({"one": "g"}, {})
