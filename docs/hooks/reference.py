"""Add one reference page per public module to the manual, written from its docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File

PACKAGES = ("channelcode", "apm")


def on_files(files: Any, *, config: Any) -> Any:
    """Called by mkdocs when it has collected the pages of docs/."""
    rows = []
    for name in public_modules():
        try:
            module = importlib.import_module(name)
        except ImportError:  # needs an extra that is not installed
            continue
        names = public_names(module)
        if not names:
            continue
        path = f"reference/{name}.md"
        files.append(File.generated(config, path, content=page(module, names)))
        rows.append(f"| [`{name}`]({name}.md) | {first_line(module)} |")
    index = "\n".join(["# Reference", "", "| module | what it holds |", "|---|---|", *rows, ""])
    files.append(File.generated(config, "reference/index.md", content=index))
    return files


def public_modules() -> list[str]:
    """The packages and every module in them whose path holds no leading underscore."""
    names = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found = pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)
        names += [module.name for module in found]
    return sorted(name for name in names if not any(p.startswith("_") for p in name.split(".")))


def public_names(module: ModuleType) -> list[str]:
    """The classes and functions a module defines; a package's are on its modules' pages."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def page(module: ModuleType, names: list[str]) -> str:
    """A module's page: its docstring, then each name with signature and docstring."""
    lines = [f"# {module.__name__}", "", *docstring(module)]
    for name in names:
        value = getattr(module, name)
        lines += [f"## {name}", "", *signature(name, value), *docstring(value)]
        if inspect.isclass(value):
            for member_name, member in vars(value).items():
                function = member.fget if isinstance(member, property) else member
                if member_name.startswith("_") or not inspect.isfunction(function):
                    continue
                if not function.__doc__:
                    continue
                lines += [f"### {name}.{member_name}", ""]
                lines += [] if isinstance(member, property) else signature(member_name, function)
                lines += docstring(function)
    return "\n".join(lines) + "\n"


def signature(name: str, value: Any) -> list[str]:
    try:
        text = f"{name}{inspect.signature(value)}"
    except (TypeError, ValueError):
        return []
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are kept as text
    return ["```python", text, "```", ""]


def docstring(value: Any) -> list[str]:
    """The docstring as it stands: its equations and examples depend on their layout."""
    text = inspect.getdoc(value) if inspect.ismodule(value) else _own_docstring(value)
    return ["~~~text", text, "~~~", ""] if text else []


def first_line(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0].replace("|", "\\|")


def _own_docstring(value: Any) -> str | None:
    text = value.__doc__
    return inspect.cleandoc(text) if text else None
