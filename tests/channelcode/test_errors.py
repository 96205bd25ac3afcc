"""The error family: one base, messages with argument, rule and value, and copies that survive."""

from __future__ import annotations

import pickle

import pytest

from channelcode.errors import ChannelCodeError, InvalidArgument, MissingExtra, NotConverged


def test_invalid_argument_names_argument_rule_and_value():
    error = InvalidArgument("power", "must be non-negative", -1.0)
    assert str(error) == "power must be non-negative, got -1.0"
    assert (error.argument, error.rule, error.value) == ("power", "must be non-negative", -1.0)
    assert isinstance(error, ValueError)
    assert isinstance(error, ChannelCodeError)


def test_a_long_value_is_cut():
    message = str(InvalidArgument("x", "must be short", list(range(10_000))))
    assert len(message) < 300
    assert message.endswith("...")


def test_not_converged_carries_what_was_found():
    error = NotConverged("ran out of steps", {"gap": 0.1})
    assert error.result == {"gap": 0.1}
    assert isinstance(error, RuntimeError)


def test_missing_extra_says_how_to_get_it():
    error = MissingExtra("hypothesis", "dev")
    assert "channelcode[dev]" in str(error)
    assert isinstance(error, ImportError)


@pytest.mark.parametrize(
    "error",
    [InvalidArgument("a", "must b", 3), NotConverged("c", [1]), MissingExtra("d", "e")],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
