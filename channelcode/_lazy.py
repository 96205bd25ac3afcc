"""Packages whose names are loaded when they are first asked for (PEP 562, SPEC 1).

A package lists its exports twice: as imports under `if TYPE_CHECKING`, which type checkers and
editors read, and as the table given to `attach`, which Python reads. A test compares the two.

    if TYPE_CHECKING:
        from channelcode.channels.softmax import Softmax as Softmax
    else:
        attach(__name__, {"softmax": "Softmax"})
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# NumPy's modules import each other in circles, so its first import must not be that of two threads
# that ask for names at once. The modules of this library do not; Python locks each of them.
import numpy  # noqa: F401


class LazyPackage(ModuleType):
    """A package that imports a name's home when the name is first asked for, and then keeps it.

    An exported name stays what it is when a submodule of the same name is loaded:
    `channelcode.capacity` is the function, also after `import channelcode.capacity.problem`.
    """

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["__lazy_names__"].get(name)
        if home is not None:
            value = getattr(import_module(home), name)
        elif name.startswith("_") or find_spec(f"{self.__name__}.{name}") is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        else:
            return import_module(f"{self.__name__}.{name}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in self.__dict__["__lazy_names__"]:
            return  # the import system binds a submodule once it is loaded
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__dict__["__lazy_names__"]})


def attach(package: str, homes: Mapping[str, str]) -> None:
    """Make a package lazy, and write its `__all__`.

    - `homes`: from a module, relative to the package ("softmax") or in full ("channelcode.errors"),
      to the names it holds, separated by spaces.
    """
    module = sys.modules[package]
    top = package.partition(".")[0]
    names: dict[str, str] = {}
    for home, held in homes.items():
        full = home if home.partition(".")[0] in (top, "channelcode") else f"{package}.{home}"
        names.update(dict.fromkeys(held.split(), full))
    version = ["__version__"] if "__version__" in module.__dict__ else []
    module.__dict__.update(__lazy_names__=names, __all__=[*names, *version])
    module.__class__ = LazyPackage
