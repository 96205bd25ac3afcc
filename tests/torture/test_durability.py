"""Files that are replaced: kills, full disks, devices, modes, links, drafts of the dead."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from apm.learner import Learner
from apm.storage import replacing, write_whole
from apm.storage.whole import sweep
from channelcode.errors import InvalidArgument
from tests.torture import cases

SAVER = """
import sys
from tests.torture import cases
held = cases.learner(2000)
print("ready", flush=True)
while True:
    held.save(sys.argv[1])
"""


def test_killed_saves_leave_a_whole_file_and_no_draft_behind(tmp_path):
    path = tmp_path / "learner.npz"
    for wait in (0.0, 0.004, 0.011):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVER, str(path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if path.exists():
            assert len(Learner.load(path).pool) == 2000
    (tmp_path / ".apm-0123.draft").write_bytes(b"of a writer that died")
    cases.learner().save(path)
    assert os.listdir(tmp_path) == ["learner.npz"]


def test_the_draft_of_a_live_writer_is_left(tmp_path):
    with replacing(tmp_path / "slow.txt") as file:
        file.write(b"half")
        write_whole(tmp_path / "quick.txt", b"whole")
        assert sweep(tmp_path) == []
        file.write(b" and half")
    assert (tmp_path / "slow.txt").read_bytes() == b"half and half"
    assert sorted(os.listdir(tmp_path)) == ["quick.txt", "slow.txt"]


def test_files_that_only_look_like_drafts_are_left(tmp_path):
    for name in (".apm-1", "apm-1.draft", ".apm-1.draft.txt", ".other.draft"):
        (tmp_path / name).write_bytes(b"mine")
    (tmp_path / ".apm-link.draft").symlink_to(tmp_path / ".apm-1")
    os.mkfifo(tmp_path / ".apm-pipe.draft")
    before = sorted(os.listdir(tmp_path))
    assert sweep(tmp_path) == []
    assert sorted(os.listdir(tmp_path)) == before


def test_content_then_name_then_folder_are_flushed_in_this_order(tmp_path, monkeypatch):
    done = []
    flush, move = os.fsync, os.replace

    def fsync(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        done.append((kind, os.fstat(handle).st_size if kind == "file" else 0))
        flush(handle)

    def rename(draft: Path, place: Path) -> None:
        done.append(("name", 0))
        move(draft, place)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    write_whole(tmp_path / "a", b"12345")
    assert done == [("file", 5), ("name", 0), ("folder", 0)]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_the_mode_of_a_file_that_is_replaced_is_kept(mode, tmp_path):
    path = cases.archive(tmp_path)
    path.chmod(mode)
    cases.learner().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert len(Learner.load(path).history) == 0


def test_a_private_file_is_never_readable_by_others_while_it_is_written(tmp_path):
    path = tmp_path / "private"
    write_whole(path, b"old")
    path.chmod(0o600)
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        file.write(b"new")


def make(kind: str, path: Path) -> None:
    if kind == "link":
        target = path.with_name("target")
        target.write_bytes(b"target")
        path.symlink_to(target)
    elif kind == "dangling link":
        path.symlink_to(path.with_name("nowhere"))
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))


@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo", "folder", "socket"])
def test_what_is_no_file_is_not_replaced(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    make(kind, Path("special"))
    before = os.lstat("special")
    with pytest.raises(InvalidArgument, match="path must be a file"):
        cases.learner().save("special")
    assert os.lstat("special") == before
    assert not Path("target").exists() or Path("target").read_bytes() == b"target"
    with pytest.raises((InvalidArgument, OSError)):
        Learner.load("special")


def test_a_device_is_not_replaced():
    with pytest.raises(InvalidArgument, match="a device is not replaced"):
        cases.learner().save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(InvalidArgument, match="not a file"):
        Learner.load("/dev/zero")


@pytest.mark.parametrize("path", ["", ".", "..", "/", "a\0b", b"bytes", None, 3])
def test_a_path_that_names_no_file_is_refused(path):
    with pytest.raises(InvalidArgument, match="path must"):
        cases.learner().save(path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_failed_write_names_the_path_and_leaves_the_old_file(code, tmp_path, monkeypatch):
    path = cases.archive(tmp_path)
    content = path.read_bytes()

    def fails(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match=r"small\.npz") as caught:
        cases.learner().save(path)
    assert caught.value.errno == code
    assert caught.value.filename == str(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["small.npz"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none/learner\.npz"):
        cases.learner().save(tmp_path / "none" / "learner.npz")


def test_an_interrupt_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cases.learner().save(tmp_path / "learner.npz")
    assert os.listdir(tmp_path) == []


def test_new_files_do_not_overwrite(tmp_path):
    write_whole(tmp_path / "a", b"first", new=True)
    with pytest.raises(FileExistsError, match="a"):
        write_whole(tmp_path / "a", b"second", new=True)
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


def test_new_files_where_hard_links_are_not_offered(tmp_path, monkeypatch):
    def refuses(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuses)
    write_whole(tmp_path / "a", b"first", new=True)
    with pytest.raises(FileExistsError, match="a"):
        write_whole(tmp_path / "a", b"second", new=True)
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError("no words"), "no words"), (OSError(), "OSError"), (OSError(5, "worn"), "worn")],
    ids=["text", "nothing", "number"],
)
def test_every_error_of_the_disk_says_what_and_where(error, reason, tmp_path):
    with pytest.raises(OSError, match=reason) as caught, replacing(tmp_path / "a"):
        raise error
    assert caught.value.filename == str(tmp_path / "a")
    assert caught.value.errno == errno.EIO
