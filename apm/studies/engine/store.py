"""One file for each finished trial, written whole or not at all, and a description beside them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from apm.storage import read_arrays, write_arrays
from apm.storage import write_whole as write_file
from apm.storage.whole import lock
from apm.studies.engine.trial import Run
from channelcode.errors import ChannelCodeError, InvalidArgument

FORMAT = 2
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # of a plan: it becomes a folder


class StoreError(ChannelCodeError):
    """Results could not be written or do not belong to this study; the message says what to do."""


class Store:
    """The finished trials of a study in a folder: `trials/<data set>/<number>.npz`, no pickle.

    A file is written under another name, flushed to disk and moved into place, so that after a kill
    or a power cut every file that is there is complete; a checksum over the whole file tells if
    anything has happened to it since.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, dataset: str, trial: int) -> Path:
        """Where a trial's file lies."""
        if not NAME.fullmatch(dataset):
            rule = "must have names of letters, digits, dots and hyphens"
            raise InvalidArgument("plans", rule, dataset)
        return self.folder / "trials" / dataset / f"{trial:05d}.npz"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from running a study in this folder; a dead one holds nothing."""
        path = self.folder / ".lock"
        with _told(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            if not lock(handle):
                raise StoreError(
                    f"another process is running a study in {self.folder}: wait for it, or name "
                    "another output directory"
                )
            yield
        finally:
            os.close(handle)

    def open(
        self,
        fingerprints: dict[str, str],
        description: dict[str, Any],
        *,
        replacing: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """Create the folder, or check that what is there belongs to the same settings.

        `replacing` are the earlier fingerprints of a set that may give way to the new one.
        """
        path = self.folder / "study.json"
        known: dict[str, str] = {}
        if path.is_file():
            try:
                known = dict(json.loads(path.read_bytes())["fingerprints"])
            except (ValueError, KeyError, TypeError, RecursionError):
                known = {}  # each trial file carries its fingerprint too
        for dataset, fingerprint in fingerprints.items():
            allowed = {fingerprint, *(replacing or {}).get(dataset, ())}
            if known.get(dataset, fingerprint) not in allowed:
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
        arrays = {
            f"{run.method}/{name}": array for run in runs for name, array in run.arrays.items()
        }
        header = {**meta, "methods": [run.method for run in runs], "arrays": list(arrays)}
        path = self.path(dataset, trial)
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_arrays(path, header, arrays)

    def meta(self, dataset: str, trial: int) -> dict[str, Any] | None:
        """The description inside a trial's file; None if absent, an error if damaged."""
        try:
            return self.content(dataset, trial)[0]
        except FileNotFoundError:
            return None

    def check(self, dataset: str, trial: int, fingerprint: str) -> str:
        """'finished', 'missing', 'damaged' or 'foreign' (other settings); reads every byte."""
        if not self.path(dataset, trial).is_file():
            return "missing"
        try:
            meta = self.meta(dataset, trial)
        except (OSError, InvalidArgument):
            return "damaged"
        if meta is None:
            return "damaged"
        return "finished" if meta.get("fingerprint") == fingerprint else "foreign"

    def runs(
        self, dataset: str, trials: int, names: tuple[str, ...], *, fingerprint: str | None = None
    ) -> Iterator[list[Run]]:
        """The runs of trials 0..trials-1 with only the arrays in `names`, one trial at a time.

        A damaged file is an error, and so is one of another fingerprint, if one is given.
        """
        for trial in range(trials):
            meta, arrays = self.content(dataset, trial)
            if fingerprint is not None and meta.get("fingerprint") != fingerprint:
                path = self.path(dataset, trial)
                raise StoreError(f"{path} was made with other settings: run the study again")
            yield [
                Run(
                    method,
                    {
                        name: arrays[f"{method}/{name}"]
                        for name in names
                        if f"{method}/{name}" in arrays
                    },
                )
                for method in meta["methods"]
            ]

    def content(self, dataset: str, trial: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The description and the arrays (`method/name`) of a trial; an error if damaged."""
        path = self.path(dataset, trial)
        meta, arrays = read_arrays(path, "a finished trial")
        if not isinstance(meta.get("methods"), list) or meta.get("arrays") != list(arrays):
            raise InvalidArgument("path", "must be a finished trial (parts are missing)", str(path))
        return meta, arrays


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part.

    On a full disk nothing is left behind and `StoreError` says how to go on.
    """
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say what is kept and how to go on when a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}. What is finished is intact; make "
            "room or name another output directory, and run the same command again to go on."
        ) from error
