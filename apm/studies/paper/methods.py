"""The methods of the study by the paper's names, and what goes beyond the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apm.selectors.base import Selector
from apm.studies.suggestions import nearest_name
from channelcode.errors import InvalidArgument


def _named(name: str, **options: Any) -> Callable[[], Selector]:
    def build() -> Selector:
        from apm import selectors

        return getattr(selectors, name)(**options)

    return build


CURVE_METHODS = ("APM-LR", "Uncertainty", "BALD", "InfoGain", "Random", "MaxVar")
"""The six methods in all learning curves and cost tables of the paper."""
ABLATIONS = ("APM-LR-U", "APM-LR-V")
"""APM-LR's two terms alone, in the failure analysis (appendix B.6)."""
PAPER_METHODS = (*CURVE_METHODS, *ABLATIONS)


def _predictions() -> Selector:
    from apm import selectors

    return selectors.APM(message=selectors.Predictions())


def _matched() -> Selector:
    from apm import selectors
    from apm.power import MatchedPower

    return selectors.APM(MatchedPower())


_FACTORIES: dict[str, Callable[[], Selector]] = {
    "APM-LR": _named("APM"),
    "Uncertainty": _named("Uncertainty"),
    "BALD": _named("BALD"),
    "InfoGain": _named("InformationGain", samples=100),
    "Random": _named("Random"),
    "MaxVar": _named("MaxVariance"),
    "APM-LR-U": _named("APMExploit"),
    "APM-LR-V": _named("APMExplore"),
    "InfoGain-exact": _named("InformationGain"),
    "EPIG": _named("EPIG"),
    "APM-predictions": _predictions,
    "APM-matched": _matched,
}
ADDITIONS = tuple(name for name in _FACTORIES if name not in PAPER_METHODS)
"""Methods beyond the paper: exact information gain, information about predictions, and APM with the
budget at which it ranks like information gain."""
METHODS = tuple(_FACTORIES)


def check_method(name: str) -> str:
    """The name itself if it is known; else an error that suggests the nearest one.

    >>> check_method("APM-LR")
    'APM-LR'
    """
    if name not in _FACTORIES:
        raise InvalidArgument("method", f"must be known{nearest_name(name, METHODS)}", name)
    return name


def make_selector(method: str) -> Selector:
    """The selector of a method."""
    return _FACTORIES[check_method(method)]()
