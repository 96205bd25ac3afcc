"""A learner in a file: arrays and JSON in one `.npz`, never pickle, written all or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from channelcode.errors import InvalidArgument

VERSION = 1
PARTS = ("seed", "journal", "posterior", "likelihood", "channel", "encoder", "selector")
_HEADER = "header"


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """Write a header (JSON) and arrays to `path`; a reader sees the old file or the new one."""
    place = Path(path)
    text = json.dumps({"version": VERSION, **header}, default=_number)
    content: dict[str, Any] = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8)}
    for name, value in arrays.items():
        array = np.asarray(value)
        if array.dtype == object:  # it would be pickled
            raise InvalidArgument(name, "must not hold objects", f"dtype {array.dtype}")
        content[f"array/{name}"] = array
    temporary = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        with open(temporary, "xb") as file:  # with the permissions of any new file
            np.savez(file, **content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return place


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `write` wrote; anything else is refused with a typed error."""
    import zipfile
    import zlib

    try:
        with open(path, "rb") as file, zipfile.ZipFile(file):  # a lone array is no learner
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                header = json.loads(bytes(content[_HEADER]).decode())
                names = [name for name in content.files if name.startswith("array/")]
                arrays = {name.removeprefix("array/"): content[name] for name in names}
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidArgument("path", f"must be a learner's file ({error})", str(path)) from error
    if not isinstance(header, dict):
        raise InvalidArgument("path", "must be a learner's file", str(path))
    if header.get("version") != VERSION:
        rule = f"must be of version {VERSION} of the format"
        raise InvalidArgument("path", rule, f"version {header.get('version')}")
    lacking = [name for name in PARTS if name not in header]
    if lacking or "pool" not in arrays:
        raise InvalidArgument("path", "must hold every part of a learner", lacking or "no pool")
    return header, arrays


def describe(value: Any, arrays: dict[str, Any], name: str) -> Any:
    """A plain description of an object: dataclasses of this library, numbers, text and arrays.

    Arrays go to `arrays` under `name`. What cannot be described (a function, a class of the user's)
    becomes `{"opaque": ...}`, and `restore` will ask for it.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list | tuple):
        items = [describe(item, arrays, f"{name}.{place}") for place, item in enumerate(value)]
        return {"items": items}
    kind = type(value).__name__
    if _known().get(kind) is type(value) and is_dataclass(value):
        parts = {
            part.name: describe(getattr(value, part.name), arrays, f"{name}.{part.name}")
            for part in fields(value)
            if part.init
        }
        return {"type": kind, "fields": parts}
    return {"opaque": repr(value)}


def restore(description: Any, arrays: dict[str, np.ndarray], argument: str) -> Any:
    """The object behind a description; an opaque one must be given to `load` as `argument`."""
    if not isinstance(description, dict):
        return description
    if "array" in description:
        return arrays[description["array"]]
    if "items" in description:
        return tuple(restore(item, arrays, argument) for item in description["items"])
    if "opaque" in description:
        rule = "must be given to load: the file cannot hold it"
        raise InvalidArgument(argument, rule, description["opaque"])
    known = _known()
    if description["type"] not in known:
        raise InvalidArgument("path", "must name classes of this library", description["type"])
    parts = {key: restore(part, arrays, argument) for key, part in description["fields"].items()}
    return known[description["type"]](**parts)


def posterior_class(name: str) -> Any:
    """The posterior of this library with that name."""
    import apm.posteriors

    if name not in apm.posteriors.__all__:
        raise InvalidArgument("model", "must be given to load: the file cannot hold it", name)
    return getattr(apm.posteriors, name)


def restored_belief(header: dict[str, Any], arrays: dict[str, Any], model: Any) -> Any:
    """The belief of a file; a given model says what the file cannot."""
    from apm.belief import Belief
    from apm.posteriors import Posterior

    given = Belief(model) if isinstance(model, Posterior) else model
    state = {
        name.removeprefix("posterior/"): value
        for name, value in arrays.items()
        if name.startswith("posterior/")
    }
    if given is not None:
        if not isinstance(given, Belief):
            raise InvalidArgument("model", "must be a posterior or a Belief", model)
        kind = type(given.posterior).__name__
        if kind != header["posterior"]:
            rule = f"must have the posterior of the file, {header['posterior']}"
            raise InvalidArgument("model", rule, kind)
        posterior = type(given.posterior).from_state(state, given.posterior.channel)
        return Belief(posterior, given.encoder, given.channel)
    encoder = restore(header["encoder"], arrays, "model")
    channel = restore(header["channel"], arrays, "model")
    likelihood = restore(header["likelihood"], arrays, "model")
    kind = posterior_class(header["posterior"])
    return Belief(kind.from_state(state, likelihood), encoder, channel)


def _known() -> dict[str, type]:
    """The classes that a file may name: exported ones of this library, nothing else."""
    from importlib import import_module

    import apm.encoders
    import apm.posteriors
    import apm.power
    import apm.selectors
    import channelcode.channels

    modules = (
        apm.encoders,
        apm.posteriors,
        apm.selectors,
        import_module("channelcode.capacity"),  # `channelcode.capacity` itself is the function
        channelcode.channels,
    )
    found = {
        name: value
        for module in modules
        for name in module.__all__
        if isinstance(value := getattr(module, name), type)
    }
    policies = {
        name: value
        for name, value in vars(apm.power).items()
        if isinstance(value, type) and issubclass(value, apm.power.PowerPolicy)
    }
    return found | policies


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidArgument("label", "must be a number or text to be saved", value)
