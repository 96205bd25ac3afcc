"""Channels and selectors of other packages, found by their entry points.

A package offers a channel to the command line with two lines of its own `pyproject.toml`:

    [project.entry-points."channelcode.channels"]
    abstaining = "my_package:Abstaining"

and `apm capacity --channel abstaining:0.5` then calls `Abstaining(0.5)`. The group `apm.selectors`
does the same for `apm ask --selector NAME`, whose object is called without arguments. Nothing is
loaded before it is named, and the names of the library itself come first.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from channelcode.errors import ChannelCodeError, InvalidArgument

if TYPE_CHECKING:
    from apm.selectors import Selector
    from channelcode import Channel

CHANNELS_GROUP, SELECTORS_GROUP = "channelcode.channels", "apm.selectors"
SELECTORS = {
    "apm": "APM",
    "bald": "BALD",
    "entropy": "Entropy",
    "epig": "EPIG",
    "information-gain": "InformationGain",
    "least-confidence": "LeastConfidence",
    "margin": "Margin",
    "max-variance": "MaxVariance",
    "random": "Random",
    "uncertainty": "Uncertainty",
}


def offered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, in alphabetical order."""
    return {each.name: each for each in sorted(entry_points(group=group), key=lambda e: e.name)}


def extension_channel(name: str, numbers: list[float]) -> Channel | None:
    """The channel that another package calls by this name; None if none does."""
    from channelcode import Channel

    found = offered(CHANNELS_GROUP).get(name)
    return None if found is None else _made(found, numbers, Channel, "channel")


def named_selector(name: str) -> Selector:
    """The selector of that name: of this library, or of another package.

    >>> type(named_selector("least-confidence")).__name__
    'LeastConfidence'
    """
    import apm.selectors
    from apm.selectors import Selector

    if name in SELECTORS:
        return getattr(apm.selectors, SELECTORS[name])()
    others = offered(SELECTORS_GROUP)
    if name in others:
        return _made(others[name], [], Selector, "selector")
    known = [*SELECTORS, *others]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise InvalidArgument("selector", f"must be one of {', '.join(known)}{hint}", name)


def completions(known: Iterable[str], group: str | None = None) -> Callable[[str], list[str]]:
    """What a shell offers for the beginning of a name."""

    def offer(incomplete: str) -> list[str]:
        names = [*known, *(offered(group) if group else ())]
        return [name for name in names if name.startswith(incomplete)]

    return offer


def _made(point: EntryPoint, arguments: list[Any], kind: type, argument: str) -> Any:
    """What an entry point gives when it is called; another package's failure is one line."""
    try:
        made = point.load()(*arguments)
    except ChannelCodeError:
        raise
    except Exception as error:
        rule = f"of {point.value} could not be made ({type(error).__name__}: {error})"
        raise InvalidArgument(argument, rule, point.name) from error
    if not isinstance(made, kind):
        raise InvalidArgument(argument, f"of {point.value} must be a {kind.__name__}", made)
    return made
