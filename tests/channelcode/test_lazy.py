"""Lazy packages: their names come late, and are then what they would have been."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LAZY = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for package in ("channelcode", "apm")
    for path in (ROOT / package).rglob("__init__.py")
    if "\n    attach(" in path.read_text()
)


def fresh(program: str) -> Any:
    """What a program prints as JSON in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loaded_by(statement: str) -> set[str]:
    """The modules that a statement adds to those of numpy and scipy.special."""
    program = f"""
import json, sys
import numpy, scipy.special
before = set(sys.modules)
{statement}
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    return set(fresh(program))


def of_this_library(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] in ("channelcode", "apm")}


# --- what is loaded -------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["channelcode", "apm"])
def test_a_bare_import_loads_next_to_nothing(package):
    loaded = loaded_by(f"import {package}")
    own = of_this_library(loaded)
    assert own <= {"channelcode", "channelcode._lazy", "apm"}
    foreign = {name.partition(".")[0] for name in loaded - own}
    assert foreign <= {"logging", "atexit"}  # Python's own; some versions of NumPy load them first


# Numbers of modules leave room for about a dozen more. Before packages were lazy, every statement
# loaded all 126 (channelcode) or 283 (apm) of them.
@pytest.mark.parametrize(
    ("statement", "most", "without"),
    [
        ("from channelcode import Logistic", 25, ("capacity", "transport", "information")),
        (
            "from channelcode import Logistic, Power, capacity; capacity(Logistic(), Power(1.0))",
            60,
            ("transport", "feedback", "capacity.solvers.continuous"),
        ),
        ("from channelcode import w2", 75, ("capacity", "feedback")),
        ("from apm import Learner", 110, ("capacity", "transport", "feedback")),
    ],
)
def test_a_name_loads_what_it_needs(statement, most, without):
    loaded = loaded_by(statement)
    own = of_this_library(loaded)
    assert len(own) <= most, sorted(own)
    for part in without:
        assert f"channelcode.{part}" not in own
    assert "apm.studies" not in own
    heavy = {"numba", "ot", "scipy.optimize", "scipy.stats", "sklearn", "matplotlib", "torch"}
    assert heavy.isdisjoint(loaded)


# --- the two lists of exports ---------------------------------------------------------------------


def promised(package: str) -> dict[str, str]:
    """Name -> module, as type checkers see it: the imports under `if TYPE_CHECKING`."""
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        str(alias.asname): str(node.module)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", LAZY)
def test_python_and_type_checkers_see_the_same_exports(package):
    import_module(package)
    module = sys.modules[package]
    assert vars(module)["__lazy_names__"] == promised(package)
    assert [n for n in vars(module)["__all__"] if n != "__version__"] == list(promised(package))
    for name, home in promised(package).items():
        import_module(home)
        assert getattr(module, name) is getattr(sys.modules[home], name)
    assert set(promised(package)) <= set(dir(module))


def test_there_are_lazy_packages():
    assert {"channelcode", "apm", "channelcode.capacity", "apm.posteriors"} <= set(LAZY)


# --- names that are also modules ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "name", "inside"),
    [
        ("channelcode", "capacity", "problem"),
        ("channelcode.capacity", "certify", "line"),
        ("channelcode.transport", "certify", None),
        ("channelcode.transport", "nearest", None),
    ],
)
@pytest.mark.parametrize("order", ["module first", "name first"])
def test_a_function_stays_a_function_when_its_module_is_loaded(package, name, inside, order):
    module = f"{package}.{name}" + (f".{inside}" if inside else "")
    load = f"import_module('{module}')"
    ask = f"getattr(sys.modules['{package}'], '{name}')"
    steps = [load, ask] if order == "module first" else [ask, load]
    program = f"""
import json, sys
from importlib import import_module
import_module('{package}')
{steps[0]}
{steps[1]}
from {package} import {name}
kinds = {{type(value).__name__ for value in ({ask}, {name})}}
print(json.dumps([sorted(kinds), type(sys.modules['{package}.{name}']).__name__]))
"""
    kinds, held = fresh(program)
    assert kinds == ["function"]
    assert held in ("module", "LazyPackage")


# --- a package like any other ---------------------------------------------------------------------


def test_star_import_help_and_dir_know_every_name():
    program = """
import json, pydoc
import apm, channelcode
space = {}
exec("from apm import *\\nfrom channelcode import *", space)
page = pydoc.plain(pydoc.render_doc(apm)) + pydoc.plain(pydoc.render_doc(channelcode))
print(json.dumps([
    [name for module in (apm, channelcode) for name in module.__all__ if name not in space],
    [name for name in ("Learner", "APM", "capacity", "w2", "Logistic") if name not in page],
    [name for module in (apm, channelcode) for name in module.__all__ if name not in dir(module)],
]))
"""
    assert fresh(program) == [[], [], []]


def test_modules_are_attributes_and_unknown_names_are_errors():
    program = """
import json, apm, channelcode
found = [apm.learner.Learner is apm.Learner, channelcode.channels.Logistic is channelcode.Logistic]
missing = []
for module, name in ((apm, "Lerner"), (channelcode, "nothing"), (apm, "_private")):
    try:
        getattr(module, name)
    except AttributeError as error:
        missing.append(str(error))
try:
    from apm import Lerner
except ImportError as error:
    missing.append(type(error).__name__)
print(json.dumps([found, missing]))
"""
    found, missing = fresh(program)
    assert found == [True, True]
    assert missing == [
        "module 'apm' has no attribute 'Lerner'",
        "module 'channelcode' has no attribute 'nothing'",
        "module 'apm' has no attribute '_private'",
        "ImportError",
    ]


def test_values_can_be_replaced_for_a_test(monkeypatch):
    import channelcode

    own = channelcode.capacity
    monkeypatch.setattr(channelcode, "capacity", "another")
    assert channelcode.capacity == "another"
    monkeypatch.undo()
    assert channelcode.capacity is own


def test_what_was_pickled_is_found_in_a_fresh_process():
    import channelcode
    from apm import VariationalLogistic

    parts = (channelcode.capacity, channelcode.Logistic(), VariationalLogistic(2.0))
    program = f"""
import json, pickle
function, channel, posterior = pickle.loads({pickle.dumps(parts)!r})
print(json.dumps([function.__name__, repr(channel), float(posterior.prior_precision)]))
"""
    assert fresh(program) == ["capacity", repr(channelcode.Logistic()), 2.0]


def test_threads_may_ask_at_once():
    program = """
import json, sys, threading
import apm, channelcode
sys.setswitchinterval(1e-6)
names = [(m, n) for m in (apm, channelcode) for n in m.__all__]
barrier, wrong = threading.Barrier(8), []
def ask(turn):
    barrier.wait()
    for module, name in names[turn * 9:] + names[:turn * 9]:
        try:
            getattr(module, name)
        except BaseException as error:
            wrong.append(f"{name}: {error!r}")
threads = [threading.Thread(target=ask, args=(turn,)) for turn in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(json.dumps(wrong))
"""
    assert fresh(program) == []
