"""The versions that results rest on, here and on the workers of a cluster."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from channelcode.errors import ChannelCodeError

PACKAGES = ("channelcode", "numpy", "scipy", "numba", "scikit-learn")
#: What two processes must have alike for the same result; the machine may be another.
COMPARED = ("python", "source", *PACKAGES)


class VersionMismatch(ChannelCodeError):
    """A worker has other versions than the process that asks; the message says which."""


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version()), ("machine", platform.machine())]
    found.append(("source", _source()))
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return tuple(found)


def _source() -> str:
    """A digest of the source of both packages: versions between releases differ by it alone."""
    import channelcode

    digest = hashlib.sha256()
    for folder in (Path(__file__).parents[1], Path(str(channelcode.__file__)).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def versions() -> dict[str, str]:
    """The versions that a result was made with.

    >>> "numpy" in versions()
    True
    """
    return dict(_versions())


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """What differs, in words; of Python the first two numbers count.

    >>> differences({"numpy": "2.1"}, {"numpy": "2.0"})
    ['numpy 2.1 here, 2.0 there']
    """
    found = []
    for name in COMPARED:
        own, other = here.get(name, "unknown"), there.get(name, "unknown")
        if name == "python":
            own, other = (".".join(each.split(".")[:2]) for each in (own, other))
        if own != other:
            label = "source of channelcode" if name == "source" else name
            found.append(f"{label} {own} here, {other} there")
    return found


def require_same(expected: Mapping[str, str], where: str = "this worker") -> None:
    """Refuse to work in a process whose versions are others than those expected."""
    found = differences(expected, versions())
    if found:
        raise VersionMismatch(told({where: found}))


def told(found: Mapping[str, list[str]]) -> str:
    """The message about workers that differ, each with what differs."""
    shown = [f"{name}: {'; '.join(what)}" for name, what in list(found.items())[:3]]
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return (
        f"workers of the Dask cluster have other versions than this process ({'. '.join(shown)}"
        f"{more}): results could differ. Install the same versions on both sides."
    )
