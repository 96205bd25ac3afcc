"""The one decorator behind every compiled loop, with a disk cache that cannot break a call.

numba's own cache raises when a file is truncated or its folder cannot be written. Its index is
read, changed and written back without a lock, so two processes that start together may pair a
signature with another's code. Here every compiled signature is a file of its own, written beside
its place and moved into it, and opened only if its checksum holds; whatever goes wrong, the kernel
is compiled again.

A cached file is a pickle around machine code: whoever writes it decides what runs here. Therefore
the files lie in a folder of the user's own (`kernels-<uid>`), and one is read only if it and that
folder belong to the user and can be written by nobody else; numba's own cache does not ask. Any
other folder costs compile time and nothing else. The guard is against other users of the machine,
not against someone who can write the user's own files: they could change this source too.

A cached kernel holds a copy of the kernels it calls, so it is out of date as soon as the source of
any of them changes: the file's name carries a digest of all those sources.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import stat
import uuid
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, cast

import numba
from numba.core import options as known
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

DIGEST_SIZE = hashlib.sha256().digest_size
UNCOUNTED = "_nrt"  # numba's private option: whether references are counted


class Kernel(Protocol, Generic[P, R]):
    """A compiled function; `py_func` is the same function uncompiled."""

    py_func: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class CheckedFiles:
    """One file per key in `folder`, each led by the SHA-256 of what follows.

    `name` is the function's, `stamp` its sources'; writing a file removes those of other stamps.
    """

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self.folder = folder
        self.name = name
        self.stamp = stamp

    def path(self, key: Hashable) -> Path:
        """Where the entry of `key` lies; distinct keys with one name are told apart by `load`."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self.folder / f"{self.name}.{self.stamp}.{digest}.nbc"

    def load(self, key: Hashable) -> Any:
        """The stored object, or None when there is none; a damaged file is removed."""
        content = _trusted_content(self.path(key))
        if content is None:
            return None
        digest, payload = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        if hashlib.sha256(payload).digest() != digest:
            self.discard(key)
            return None
        stored_key, data = pickle.loads(payload)  # noqa: S301  our own file, checksum verified
        return data if stored_key == key else None

    def save(self, key: Hashable, data: Any) -> None:
        """Store `data` so that a reader sees the old file or the new one, never a part."""
        payload = dumps((key, data))
        path = self.path(key)
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o755)
        if not _is_ours(os.stat(self.folder)):  # it would not be read again
            return
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
        try:
            with open(draft, "xb", opener=_private) as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        for other in self.folder.glob(f"{self.name}.*.nbc"):
            if not other.name.startswith(f"{self.name}.{self.stamp}."):
                other.unlink(missing_ok=True)

    def discard(self, key: Hashable) -> None:
        """Remove the entry of `key`, if that can be done."""
        with suppress(OSError):
            self.path(key).unlink()

    def flush(self) -> None:
        """Remove every entry of this kernel."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


class ForgivingCache(FunctionCache):
    """numba's function cache on checked files; a failure to load or to save is a miss."""

    def __init__(self, py_func: Callable[..., Any], sources: frozenset[Path]) -> None:
        super().__init__(py_func)
        self.sources = sources
        name = self._impl.filename_base
        folder = Path(self._cache_path) / f"kernels-{_user()}"
        self._cache_file = CheckedFiles(folder, name, _stamp(sources))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            # An intact file that this numba cannot read: compile, and let the save replace it.
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if " at 0x" in repr(
            sig
        ):  # a function among the arguments: no later process has its address
            return
        try:
            super().save_overload(sig, data)
        except Warning:  # a warning made an error: numba saying that the kernel cannot be cached
            raise
        except Exception:
            # Full disk, read-only folder, a constant that does not pickle: the code still runs.
            return


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile `function` with numba at its first call and keep the machine code on disk.

    No fastmath, no threads, no bounds checks; the interpreter's lock is released, and a division by
    zero gives inf or nan as in numpy. Arguments should be contiguous float64 or int64 arrays and
    scalars, so that one specialisation serves all callers. The plain function is `py_func`.

    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.0])), total.py_func([1.0, 2.0])
    (3.0, 3.0)
    """
    return _compiled(function, inline="never")


def inlined(function: Callable[P, R]) -> Kernel[P, R]:
    """As `kernel`, for a part of one other kernel: it is compiled into that, once, not beneath it.

    A kernel that calls a kernel has that code optimised again, so a deep nest is slow to compile.
    """
    return _compiled(function, inline="always")


def borrowing(function: Callable[P, R]) -> Kernel[P, R]:
    """As `kernel`, for a function that makes no array, only views of those it is given.

    Nothing is counted then: in a loop over short rows the counts of references, atomic each, cost
    more than the work, and much of the time to compile. numba has no public name for that; one
    without the name that its own sorting kernels use counts, and is slower, and no less right.
    """
    return _compiled(function, inline="never", counted=not _may_leave_uncounted())


def _compiled(
    function: Callable[P, R], *, inline: Literal["never", "always"], counted: bool = True
) -> Kernel[P, R]:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "inline": inline}
    if not counted:
        options[UNCOUNTED] = False
    compiled: Any = numba.njit(**options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT is set: run as Python
        cast(Any, function).py_func = function
        return cast(Kernel[P, R], function)
    _take_no_literals(compiled)
    # With no folder to write to, or no source file to date the code by, every process compiles.
    with suppress(RuntimeError, OSError, TypeError):
        compiled._cache = ForgivingCache(function, _sources(function))
    return cast(Kernel[P, R], compiled)


def _may_leave_uncounted() -> bool:
    """Whether this numba has the option; one that it does not know is refused at compile time."""
    return hasattr(getattr(known, "DefaultOptions", None), UNCOUNTED)


def _take_no_literals(compiled: Any) -> None:
    """Have a kernel that calls this one with a constant use the code for any number of that type.

    numba compiles a callee once for each integer constant, and where a variable starts at one,
    for that constant and for the variable.
    """
    whole = compiled.get_call_template

    def call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        unliteral = numba.types.unliteral
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return whole(tuple(unliteral(kind) for kind in args), plain)

    compiled.get_call_template = call_template


def _trusted_content(path: Path) -> bytes | None:
    """What a file holds, if nobody but the user can have written it; else None.

    The folder is opened once and the file opened in it, so that neither can be exchanged between
    the check and the reading.
    """
    if not hasattr(os, "geteuid"):  # Windows: the folder is the user's by its location
        with suppress(OSError):
            return path.read_bytes()
        return None
    folder = handle = -1
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if not _is_ours(os.fstat(folder)):
            return None
        handle = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        for opened in (folder, handle):
            if opened >= 0:
                os.close(opened)


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_ours(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == _user() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o644)


def _sources(function: Callable[..., Any]) -> frozenset[Path]:
    """The files whose text decides the machine code: its own and those of kernels in reach."""
    files = {Path(inspect.getfile(function)).resolve()}
    for value in list(function.__globals__.values()):
        reachable = vars(value).values() if _is_kernel_module(value) else (value,)
        for candidate in list(reachable):
            stored = getattr(candidate, "_cache", None)
            if isinstance(stored, ForgivingCache):
                files |= stored.sources
    return frozenset(files)


def _is_kernel_module(value: object) -> bool:
    return isinstance(value, ModuleType) and "_kernels" in value.__name__.split(".")


def _stamp(sources: frozenset[Path]) -> str:
    """A digest of numba's version and the sources' contents."""
    hasher = hashlib.sha256(numba.__version__.encode())
    for path in sorted(sources):
        status = path.stat()
        hasher.update(_digest(path, status.st_mtime_ns, status.st_size))
    return hasher.hexdigest()[:16]


@cache
def _digest(path: Path, modified: int, size: int) -> bytes:
    """The SHA-256 of a file; `modified` and `size` make an edited file a new entry."""
    return hashlib.sha256(path.read_bytes()).digest()
