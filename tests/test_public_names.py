"""What users import: one word for one thing, signatures that say what to give, examples."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import sys
from importlib import import_module
from typing import Any

import pytest

PACKAGES = (
    "channelcode",
    "channelcode.capacity",
    "channelcode.feedback",
    "channelcode.information",
    "channelcode.transport",
    "apm",
    "apm.encoders",
    "apm.posteriors",
    "apm.selectors",
)
# `seed=` of a learner is its own name for a stream of its own; everywhere else it is `rng`
SEEDED = {"Learner", "ExpertLearner"}
# the question and the three parts of an answer; a grid, its likelihood and its prior
FOUR_POSITIONS = {"certify", "Grid"}


def exported() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for package in PACKAGES:
        import_module(package)
        module = sys.modules[package]  # `channelcode.capacity` the attribute is the function
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                found[f"{package}.{name}"] = value
    return found


EXPORTED = exported()


def signature(value: Any) -> inspect.Signature | None:
    """The signature; None for an exception without one of its own, whose base is built in."""
    try:
        return inspect.signature(value)
    except ValueError:
        return None


def is_record(value: Any) -> bool:
    """A dataclass or named tuple of results, which users read and do not build."""
    return inspect.isclass(value) and (
        hasattr(value, "__dataclass_fields__") or hasattr(value, "_fields")
    )


@pytest.mark.parametrize("name", EXPORTED)
def test_a_random_stream_is_called_rng(name):
    found = signature(EXPORTED[name])
    if found is not None and name.rpartition(".")[2] not in SEEDED:
        assert "seed" not in found.parameters
        assert "random_state" not in found.parameters


@pytest.mark.parametrize("name", EXPORTED)
def test_signatures_say_what_to_give(name):
    """No bare `**options`; options are given by name, at most the three main arguments are not."""
    value, short = EXPORTED[name], name.rpartition(".")[2]
    found = signature(value)
    if found is None or is_record(value) or getattr(value, "_is_protocol", False):
        return
    kinds = [parameter.kind for parameter in found.parameters.values()]
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    positional = [
        parameter.name
        for parameter in found.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    assert len(positional) <= (4 if short in FOUR_POSITIONS else 3), positional


@pytest.mark.parametrize("name", EXPORTED)
def test_every_name_is_described_and_can_be_pickled(name):
    value = EXPORTED[name]
    assert value.__doc__, f"{name} has no docstring"
    assert pickle.loads(pickle.dumps(value)) is value


def test_one_name_one_thing():
    """A word that two packages export means the same object in both."""
    meanings: dict[str, set[int]] = {}
    for name, value in EXPORTED.items():
        meanings.setdefault(name.rpartition(".")[2], set()).add(id(value))
    families = {
        "Solver",
        "Auto",
        "Problem",
        "Proposal",
        "certify",
    }  # each solver family has its own
    assert {name for name, ids in meanings.items() if len(ids) > 1} <= families


def test_at_least_half_of_the_public_names_show_an_example():
    values = {id(value): value for value in EXPORTED.values()}.values()
    shown = [value for value in values if ">>>" in (value.__doc__ or "")]
    missing = sorted(v.__qualname__ for v in values if ">>>" not in (v.__doc__ or ""))
    assert len(shown) >= 0.5 * len(values), missing


def test_public_dataclasses_are_values():
    """What a user makes and hands around cannot change under another's feet."""
    changeable = {
        name
        for name, kind in exported().items()
        if isinstance(kind, type)
        and dataclasses.is_dataclass(kind)
        and not kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    }
    assert changeable == set()
