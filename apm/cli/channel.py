"""Channels by name, as the command line writes them: `logistic`, `softmax:5`, `ordinal:-1,1`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from pathlib import Path

import channelcode
from apm.cli.extensions import CHANNELS_GROUP, extension_channel, offered
from channelcode import Channel, DiscreteChannel
from channelcode.errors import InvalidArgument

Numbers = list[float]


LARGEST = 1000  # classes or trials: what a command can be asked for by a slip of the finger


def _count(argument: str, numbers: Numbers) -> int:
    if len(numbers) != 1 or not numbers[0].is_integer():  # inf and NaN are none either
        raise InvalidArgument(argument, f"takes one whole number, as in {argument}:5", numbers)
    if numbers[0] > LARGEST:
        raise InvalidArgument(argument, f"takes a number up to {LARGEST}", int(numbers[0]))
    return int(numbers[0])


def _at_most_one(argument: str, numbers: Numbers) -> Numbers:
    if len(numbers) > 1:
        raise InvalidArgument(argument, "takes at most one number", numbers)
    return numbers


def _one(argument: str, numbers: Numbers) -> float:
    if len(numbers) != 1:
        raise InvalidArgument(argument, f"takes one number, as in {argument}:0.1", numbers)
    return numbers[0]


def _none(argument: str, numbers: Numbers) -> None:
    if numbers:
        raise InvalidArgument(argument, "takes no numbers", numbers)


def _plain(name: str, make: Callable[[], Channel]) -> Callable[[Numbers], Channel]:
    def build(numbers: Numbers) -> Channel:
        _none(name, numbers)
        return make()

    return build


def _lapse(numbers: Numbers) -> Channel:
    if len(numbers) != 2:
        raise InvalidArgument("lapse", "takes two numbers, low,high", numbers)
    return channelcode.Lapse(channelcode.Logistic(), low=numbers[0], high=numbers[1])


CHANNELS: dict[str, tuple[str, Callable[[Numbers], Channel]]] = {
    "logistic": ("logistic", _plain("logistic", channelcode.Logistic)),
    "probit": ("probit or probit:scale", lambda n: channelcode.Probit(*_at_most_one("probit", n))),
    "cauchit": ("cauchit", _plain("cauchit", channelcode.Cauchit)),
    "cloglog": ("cloglog", _plain("cloglog", channelcode.Cloglog)),
    "lapse": ("lapse:low,high (logistic)", _lapse),
    "softmax": ("softmax:classes", lambda n: channelcode.Softmax(_count("softmax", n))),
    "ordinal": ("ordinal:t1,t2,...", lambda n: channelcode.Ordinal(tuple(n))),
    "binomial": ("binomial:trials", lambda n: channelcode.Binomial(_count("binomial", n))),
    "quantised": ("quantised:t1,t2,...", lambda n: channelcode.QuantisedGaussian(tuple(n))),
    "bsc": ("bsc:p", lambda n: channelcode.BinarySymmetric(_one("bsc", n))),
    "bec": ("bec:e", lambda n: channelcode.BinaryErasure(_one("bec", n))),
    "z": ("z:p", lambda n: channelcode.ZChannel(_one("z", n))),
}


def parse_channel(text: str) -> Channel:
    """The channel that `text` names: a name with numbers, or a JSON file with a matrix.

    Other packages may offer names (`apm.cli.extensions`).

    The file holds a list of rows, or an object with `matrix` and optionally `inputs`.

    >>> parse_channel("ordinal:-1,1")
    Ordinal(thresholds=(-1.0, 1.0), link=Logistic())
    """
    if text.endswith(".json") or Path(text).is_file():
        return _from_file(Path(text))
    name, _, tail = text.partition(":")
    if name not in CHANNELS and name not in offered(CHANNELS_GROUP):
        close = difflib.get_close_matches(name, CHANNELS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        known = ", ".join(form for form, _ in CHANNELS.values())
        raise InvalidArgument("channel", f"must be a JSON file or one of {known}{hint}", text)
    try:
        numbers = [float(part) for part in tail.split(",")] if tail else []
    except ValueError:
        form = CHANNELS[name][0] if name in CHANNELS else f"{name}:number,..."
        rule = f"must list numbers after the colon: {form}"
        raise InvalidArgument("channel", rule, text) from None
    other = None if name in CHANNELS else extension_channel(name, numbers)
    return CHANNELS[name][1](numbers) if other is None else other


def _from_file(path: Path) -> DiscreteChannel:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidArgument("channel", "must name a readable file", str(error)) from None
    except RecursionError:
        raise InvalidArgument("channel", "must not be nested so deeply", str(path)) from None
    except ValueError as error:
        raise InvalidArgument("channel", f"must be valid JSON ({error})", str(path)) from None
    if isinstance(content, dict):
        if "matrix" not in content:
            raise InvalidArgument("channel", "must hold a key 'matrix'", sorted(content))
        return DiscreteChannel(content["matrix"], content.get("inputs"))
    return DiscreteChannel(content)
