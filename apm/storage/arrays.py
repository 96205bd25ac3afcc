"""Arrays and JSON in one `.npz`, never pickle, under a checksum over the whole file."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from apm.storage.whole import named, replacing
from channelcode.errors import InvalidArgument

HEADER = "header"
ARRAY = "array/"
DIGEST = 64  # characters of a SHA-256, the last bytes of the file: the comment of the archive
CHUNK = 1 << 20
KINDS = "biufUS"  # numbers, booleans and text; nothing that could carry code


def write_arrays(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]
) -> Path:
    """Write a header (JSON) and arrays to `path`; a reader sees the old file or the new one."""
    text = json.dumps(header, default=_plain)
    content: dict[str, Any] = {HEADER: np.frombuffer(text.encode(), dtype=np.uint8)}
    for name, value in arrays.items():
        array = np.asarray(value)
        if array.dtype == object:  # it would be pickled
            raise InvalidArgument(name, "must not hold objects", f"dtype {array.dtype}")
        if array.dtype.kind not in KINDS:
            raise InvalidArgument(name, "must hold numbers or text", f"dtype {array.dtype}")
        content[ARRAY + name] = array
    with replacing(path) as file:
        np.savez(file, **content)
        _seal(file)
    return Path(path)


def read_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write_arrays` wrote; anything else is refused as not being `kind`.

    Not a byte is interpreted before the checksum of the whole has been compared. The sizes that an
    array claims are compared with what is there before memory is taken.
    """
    with open(path, "rb", opener=_without_waiting) as file, named(Path(path)):
        try:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _Refused("it is not a file")
            _check_seal(file)
            return _content(file)
        except OSError:
            raise
        except Exception as error:  # whatever a parser trips over: the file is not ours
            raise InvalidArgument("path", f"must be {kind} ({error})", str(path)) from error


class _Refused(Exception):
    """The file is not what it should be; the message says how."""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a FIFO would wait for a writer


def _seal(file: BinaryIO) -> None:
    """Make the digest of all that is written the comment of the archive."""
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"0" * DIGEST
    file.seek(0, os.SEEK_END)
    end = file.tell() - DIGEST
    digest = _digest(file, end)
    file.seek(end)
    file.write(digest)


def _check_seal(file: BinaryIO) -> None:
    file.seek(0, os.SEEK_END)
    end = file.tell() - DIGEST
    if end <= 0:
        raise _Refused("it is too short")
    digest = _digest(file, end)
    if file.read(DIGEST) != digest:
        raise _Refused(
            "its checksum is wrong: it was changed, cut short, or is of an older version"
        )


def _digest(file: BinaryIO, end: int) -> bytes:
    hasher = hashlib.sha256()
    file.seek(0)
    while end > 0 and (piece := file.read(min(CHUNK, end))):
        hasher.update(piece)
        end -= len(piece)
    return hasher.hexdigest().encode()


def _content(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names) or HEADER not in names:
            raise _Refused("its parts have wrong names")
        found = {name: _array(archive, member) for name, member in zip(names, members)}
    header = json.loads(bytes(found.pop(HEADER)))
    if not isinstance(header, dict):
        raise _Refused("its header is no object")
    if not all(name.startswith(ARRAY) for name in found):
        raise _Refused("its parts have wrong names")
    return header, {name.removeprefix(ARRAY): array for name, array in found.items()}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array, as large as its bytes and not as it claims."""
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        raise _Refused(f"{member.filename} is compressed or encrypted")
    with archive.open(member) as part:
        if npy.read_magic(part) == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(part)
        else:
            shape, fortran, dtype = npy.read_array_header_2_0(part)
        body = part.read()
    if dtype.kind not in KINDS or dtype.itemsize == 0 or any(length < 0 for length in shape):
        raise _Refused(f"{member.filename} is of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(body):
        raise _Refused(f"{member.filename} claims the shape {shape}, and has {len(body)} bytes")
    array = np.frombuffer(body, dtype=dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidArgument("label", "must be a number or text to be saved", value)
