"""Files planted in the cache of compiled kernels are not executed."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path

import pytest

from channelcode._kernels.jit import CheckedFiles

KEY = "signature"
OTHER_USER = 12345


class Payload:
    """Makes a file when it is unpickled: code of whoever wrote the cache file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


def plant(files: CheckedFiles, target: Path) -> Path:
    payload = pickle.dumps((KEY, Payload(target)))
    path = files.path(KEY)
    path.write_bytes(hashlib.sha256(payload).digest() + payload)
    return path


@pytest.fixture
def files(tmp_path: Path) -> CheckedFiles:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o755)
    return CheckedFiles(folder, "name", "stamp")


def test_the_trap_works_where_it_is_trusted(files, tmp_path):
    plant(files, tmp_path / "executed")
    files.load(KEY)
    assert (tmp_path / "executed").exists()  # or the tests below could not fail


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_read(mode, files, tmp_path):
    plant(files, tmp_path / "executed")
    files.folder.chmod(mode)
    assert files.load(KEY) is None
    assert not (tmp_path / "executed").exists()
    files.save(KEY, 3)  # nor written: it would not be read again
    assert len(list(files.folder.iterdir())) == 1


@pytest.mark.parametrize("mode", [0o666, 0o664])
def test_a_file_that_others_may_write_to_is_not_read(mode, files, tmp_path):
    plant(files, tmp_path / "executed").chmod(mode)
    assert files.load(KEY) is None
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_belongs_to_another_user_is_not_read(what, files, tmp_path, monkeypatch):
    path = plant(files, tmp_path / "executed")
    if os.geteuid() == 0:
        os.chown(files.folder if what == "folder" else path, OTHER_USER, -1)
    else:  # the other way round: we are another user
        monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    assert files.load(KEY) is None
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("what", ["folder", "file"])
def test_links_are_not_followed(what, files, tmp_path):
    path = plant(files, tmp_path / "executed")
    if what == "file":
        moved = path.rename(tmp_path / "elsewhere")
        path.symlink_to(moved)
    else:
        moved = files.folder.rename(tmp_path / "elsewhere")
        files.folder.symlink_to(moved)
    assert files.load(KEY) is None
    assert not (tmp_path / "executed").exists()


def test_a_pipe_does_not_block(files):
    os.mkfifo(files.path(KEY))
    assert files.load(KEY) is None


def test_what_is_saved_is_read_whatever_the_umask(tmp_path):
    before = os.umask(0o002)
    try:
        shared = CheckedFiles(tmp_path / "kernels", "name", "stamp")
        shared.save(KEY, 3)
    finally:
        os.umask(before)
    assert shared.load(KEY) == 3
