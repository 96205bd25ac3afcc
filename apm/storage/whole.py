"""Files written all or not at all: after a crash there is the old one or the new one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from channelcode.errors import InvalidArgument

try:
    import fcntl as _fcntl
except ImportError:  # no advisory locks (Windows): drafts of dead writers stay
    _fcntl = None
fcntl: Any = _fcntl

DRAFT = ".apm-{}.draft"
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
# What a file system answers that cannot flush a folder; anything else is a failure to report.
_NOT_OFFERED = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}


@contextmanager
def replacing(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that becomes `path` when the block ends well, and vanishes otherwise.

    The content is flushed to disk before it takes the name, and the folder after it. The mode of a
    file that is replaced is kept. Devices, FIFOs, folders and symbolic links are not replaced. An
    `OSError` names the path. Drafts of writers that died are removed, those of live ones are left
    (each holds a lock that ends with its process). With `new=True` nothing is replaced: a
    `FileExistsError` says that there is something.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"all of it")
    ...     Path(folder, "a.txt").read_text()
    'all of it'
    """
    place = file_path(path)
    draft = place.parent / DRAFT.format(uuid4().hex)  # known before it is made: always removed
    try:
        with named(place):
            mode = _mode_to_keep(place)
            file = _locked(draft)
        with named(place), file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            (_take_name if new else os.replace)(draft, place)  # still locked: no sweep takes it
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    with named(place):
        sync_folder(place.parent)
    sweep(place.parent)


def write_whole(path: str | os.PathLike[str], content: bytes, *, new: bool = False) -> Path:
    """Write `content` to `path`, all or nothing (see `replacing`)."""
    with replacing(path, new=new) as file:
        file.write(content)
    return Path(path)


def file_path(path: str | os.PathLike[str]) -> Path:
    """The path as a `Path` that names a file; the empty one and `..` name none."""
    try:
        place = Path(path)
    except TypeError:
        raise InvalidArgument("path", "must be text or a path", path) from None
    if place.name in ("", "..") or "\0" in str(place):
        raise InvalidArgument("path", "must name a file", str(path))
    return place


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Give every `OSError` of the block the path that it was about."""
    try:
        yield
    except OSError as error:
        if error.filename == str(path):
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder, so that a name just given or taken is on the disk."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = -1
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise
    finally:
        if handle >= 0:
            os.close(handle)


def lock(handle: int) -> bool:
    """Take the file's lock, until it is closed or the process dies; False if another has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def sweep(folder: Path) -> list[Path]:
    """Remove the drafts in `folder` whose writers are dead, and name them."""
    removed: list[Path] = []
    if fcntl is None:
        return removed
    with suppress(OSError):
        prefix, suffix = DRAFT.split("{}")
        with os.scandir(folder) as found:
            names = [e.name for e in found if e.name.startswith(prefix) and e.name.endswith(suffix)]
        for name in names:
            with suppress(OSError):
                if _is_dead(folder / name):
                    (folder / name).unlink()
                    removed.append(folder / name)
    return removed


def _is_dead(draft: Path) -> bool:
    """Whether nobody writes this draft: its lock is free, and the name still stands for it."""
    handle = os.open(draft, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        held = os.fstat(handle)
        if not stat.S_ISREG(held.st_mode):
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(held, os.stat(draft, follow_symlinks=False))
    finally:
        os.close(handle)


def _mode_to_keep(place: Path) -> int | None:
    """The permissions of the file that is there, or None; what is not a file is refused."""
    try:
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return None
    for test, kind in _KINDS:
        if test(mode):
            raise InvalidArgument("path", f"must be a file: {kind} is not replaced", str(place))
    return stat.S_IMODE(mode)


def _take_name(draft: Path, place: Path) -> None:
    """Give the draft its name unless something has it, in one step where hard links are offered."""
    try:
        os.link(draft, place)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from None
        os.rename(draft, place)
    else:
        draft.unlink()


def _locked(draft: Path) -> BinaryIO:
    """A new locked file of this name, with the permissions of any new file."""
    while True:
        file = open(draft, "x+b")  # noqa: SIM115  closed by the caller
        try:
            lock(file.fileno())
            if draft.exists():  # no sweep came between its making and its lock
                return file
        except BaseException:
            file.close()
            raise
        file.close()
