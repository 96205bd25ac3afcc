"""One file for each finished trial, written whole or not at all, and a description beside them."""

from __future__ import annotations

import json
import os
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.engine.trial import Run
from channelcode.errors import ChannelCodeError

FORMAT = 1


class StoreError(ChannelCodeError):
    """Results could not be written or do not belong to this study; the message says what to do."""


class Store:
    """The finished trials of a study in a folder: `trials/<data set>/<number>.npz`, no pickle.

    A file is written under another name, flushed to disk and moved into place, so that after a kill
    or a power cut every file that is there is complete.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, dataset: str, trial: int) -> Path:
        """Where a trial's file lies."""
        return self.folder / "trials" / dataset / f"{trial:05d}.npz"

    def open(self, fingerprints: dict[str, str], description: dict[str, Any]) -> None:
        """Create the folder, or check that what is there belongs to the same settings."""
        path = self.folder / "study.json"
        known: dict[str, str] = {}
        if path.is_file():
            try:
                known = json.loads(path.read_text())["fingerprints"]
            except (ValueError, KeyError, TypeError):
                known = {}  # each trial file carries its fingerprint too
        for dataset, fingerprint in fingerprints.items():
            if known.get(dataset, fingerprint) != fingerprint:
                raise StoreError(
                    f"{self.folder} holds results of {dataset} with other settings (methods, "
                    "queries, seed or data). Name another output directory, repeat the "
                    f"earlier settings (see {path}), or remove {self.folder / 'trials' / dataset} "
                    f"and {path.name} to start over."
                )
        record = {**description, "format": FORMAT, "fingerprints": {**known, **fingerprints}}
        write_whole(path, (json.dumps(record, indent=2) + "\n").encode())

    def save(self, dataset: str, trial: int, runs: list[Run], meta: dict[str, Any]) -> None:
        """Write one trial; `meta` holds the fingerprint, seed and versions."""
        import io

        arrays = {
            f"{run.method}/{name}": array for run in runs for name, array in run.arrays.items()
        }
        buffer = io.BytesIO()
        text = json.dumps({**meta, "methods": [run.method for run in runs]})
        everything: dict[str, Any] = {"meta": np.array(text), **arrays}
        np.savez(buffer, **everything)
        write_whole(self.path(dataset, trial), buffer.getvalue())

    def meta(self, dataset: str, trial: int) -> dict[str, Any] | None:
        """The description inside a trial's file; None if absent, an error if damaged."""
        with suppress(FileNotFoundError), np.load(self.path(dataset, trial)) as archive:
            return json.loads(str(archive["meta"]))
        return None

    def check(self, dataset: str, trial: int, fingerprint: str) -> str:
        """'finished', 'missing', 'damaged' or 'foreign' (other settings); reads every byte."""
        path = self.path(dataset, trial)
        if not path.is_file():
            return "missing"
        try:
            with zipfile.ZipFile(path) as archive:
                intact = archive.testzip() is None
            meta = self.meta(dataset, trial) if intact else None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return "damaged"
        if meta is None:
            return "damaged"
        return "finished" if meta.get("fingerprint") == fingerprint else "foreign"

    def runs(self, dataset: str, trials: int, names: tuple[str, ...]) -> Iterator[list[Run]]:
        """The runs of trials 0..trials-1 with only the arrays in `names`, one trial at a time."""
        for trial in range(trials):
            with np.load(self.path(dataset, trial)) as archive:
                meta = json.loads(str(archive["meta"]))
                present = set(archive.files)
                yield [
                    Run(
                        method,
                        {
                            name: archive[f"{method}/{name}"]
                            for name in names
                            if f"{method}/{name}" in present
                        },
                    )
                    for method in meta["methods"]
                ]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part.

    On a full disk nothing is left behind and `StoreError` says how to go on.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}. What is finished is intact; make "
            "room or name another output directory, and run the same command again to go on."
        ) from error
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
