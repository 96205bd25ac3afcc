"""Pictures from the folder of the pool, and from nowhere else."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from channelcode.errors import InvalidArgument

TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}  # SVG is not among them: it is a document that may hold a program
LARGEST = 64 << 20  # bytes


def read_image(folder: Path, name: str) -> tuple[bytes, str]:
    """The content and the type of the image `name` in a folder or below it.

    Absolute names, `..`, symbolic links anywhere on the way, and what is no file are refused. Each
    folder on the way is opened from the one before, so nothing can be exchanged in between.
    """
    path = PurePosixPath(name.replace("\\", "/") if os.sep == "\\" else name)
    kind = TYPES.get(path.suffix.lower())
    if kind is None:
        raise InvalidArgument("image", f"must end in one of {', '.join(TYPES)}", name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        raise InvalidArgument("image", "must be a file in the folder of the pool", name)
    handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for place, part in enumerate(path.parts):
            last = place == len(path.parts) - 1
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            flags |= 0 if last else os.O_DIRECTORY
            try:
                inner = os.open(part, flags, dir_fd=handle)
            except OSError as error:
                rule = f"must be a file in the folder of the pool ({error.strerror})"
                raise InvalidArgument("image", rule, name) from None
            os.close(handle)
            handle = inner
        held = os.fstat(handle)
        if not stat.S_ISREG(held.st_mode) or held.st_size > LARGEST:
            raise InvalidArgument("image", f"must be a file of at most {LARGEST} bytes", name)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(LARGEST + 1), kind
    finally:
        os.close(handle)
