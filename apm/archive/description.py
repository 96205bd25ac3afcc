"""Objects of this library as plain descriptions, and back; a file can make nothing else."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from channelcode.errors import InvalidArgument

# packages and modules whose exported classes a file may name
HOMES = (
    "apm.encoders",
    "apm.posteriors",
    "apm.selectors",
    "apm.power",
    "channelcode.capacity",
    "channelcode.channels",
)


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
    if _class_named(kind) is type(value) and is_dataclass(value):
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
    kind = _class_named(str(description.get("type")))
    if kind is None:
        named = description.get("type")
        raise InvalidArgument("path", "must name classes of this library", named)
    parts = {key: restore(part, arrays, argument) for key, part in description["fields"].items()}
    return kind(**parts)


def posterior_class(name: str) -> Any:
    """The posterior of this library with that name."""
    import apm.posteriors

    if name not in vars(apm.posteriors)["__all__"]:
        raise InvalidArgument("model", "must be given to load: the file cannot hold it", name)
    return getattr(apm.posteriors, name)


def _class_named(name: str) -> type | None:
    """A class that a file may name: an exported one of this library, nothing else."""
    for home in HOMES:
        module = import_module(home)
        if name in vars(module)["__all__"]:
            value = getattr(module, name)
            return value if isinstance(value, type) else None
    return None
