"""Densities with one deliberate mistake each; `MISTAKES` says what the contract must answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from channelcode import Channel
from channelcode.channels.support import Counts

_NOISE = np.random.default_rng(0)


def _normal(y: Any, l: Any) -> Any:
    return -0.5 * (y - l) ** 2 - 0.5 * np.log(2 * np.pi)


def _counts(y: Any, l: Any) -> Any:
    return xlogy(y, l + 0.5) - (l + 0.5) - gammaln(y + 1)


class Good(Channel):
    support = (-np.inf, np.inf)

    def log_density(self, y, l):
        return _normal(y, l)


class GoodCounts(Channel):
    support, domain = Counts(), (0.0, np.inf)

    def log_density(self, y, l):
        return _counts(y, l)


def _made(law: Any = None, base: Any = Good, **members: Any) -> Channel:
    if law is not None:
        members["log_density"] = lambda self, y, l: law(y, l)
    return type("Wrong", (base,), members)()


def _where(low: float, high: float, value: Any) -> Any:
    """The normal law, spoiled for inputs in (low, high)."""
    return lambda y, l: np.where((l > low) & (l < high), _normal(y, l) + value, _normal(y, l))


def _ends(low: Any, high: Any, scale: Any = None) -> dict[str, Any]:
    return {
        "output_range": lambda self, l: (low(l), high(l)),
        "output_scale": lambda self, l: np.ones_like(l) if scale is None else scale(l),
    }


_UNSUMMED = "must integrate to one"
_INF = np.inf

# (name, channel, part of the message)
MISTAKES: list[tuple[str, Channel, str]] = [
    ("integrates to .99", _made(lambda y, l: _normal(y, l) - 0.01), _UNSUMMED),
    ("integrates to 1 + 1e-7", _made(lambda y, l: _normal(y, l) + 1e-7), _UNSUMMED),
    ("no law on (1, 2)", _made(_where(1, 2, -0.1)), _UNSUMMED),
    ("no law on (4, 8)", _made(_where(4, 8, -0.1)), _UNSUMMED),
    ("no law on (12, 13)", _made(_where(12, 13, 0.01)), _UNSUMMED),
    ("no law beyond 50", _made(_where(50, _INF, -0.1)), _UNSUMMED),
    ("no law below -1e4", _made(_where(-_INF, -1e4, -0.1)), _UNSUMMED),
    ("NaN on (1, 2)", _made(_where(1, 2, np.nan)), "number or -inf"),
    ("NaN on (10, 25)", _made(_where(10, 25, np.nan)), "number or -inf"),
    ("NaN beyond 1e5", _made(_where(1e5, _INF, np.nan)), "number or -inf"),
    ("nothing on (10, 25)", _made(_where(10, 25, -_INF)), f"finite somewhere|{_UNSUMMED}"),
    ("+inf at y = l", _made(lambda y, l: np.where(y == l, _INF, _normal(y, l))), "number or -inf"),
    ("complex", _made(lambda y, l: _normal(y, l) + 1j), "real numbers"),
    ("bits", _made(lambda y, l: _normal(y, l) / np.log(2)), _UNSUMMED),
    ("a density, not its log", _made(lambda y, l: np.exp(_normal(y, l))), "is the logarithm"),
    ("math.pow", _made(lambda y, l: -math.pow(float(y - l), 2)), "not vectorised"),
    ("if on an array", _made(lambda y, l: _normal(y, l) if y > l else -_INF), "not vectorised"),
    ("depends on the batch", _made(lambda y, l: _normal(y, l - np.mean(l))), "one by one"),
    ("random", _made(lambda y, l: _normal(y, l + 1e-6 * _NOISE.random())), "same answer"),
    ("half the line", _made(support=(0.0, _INF)), _UNSUMMED),
    ("a support of text", _made(support="line"), "support"),
    ("a domain turned round", _made(domain=(1.0, -1.0)), "domain|lesser first"),
    ("two inputs", _made(dim=2), "dim = 1"),
    ("draws too wide", _made(draw=lambda self, l, rng: l + 2 * rng.standard_normal(l.shape)),
     "follow the density"),
    ("draws of a wrong shape", _made(draw=lambda self, l, rng: rng.random(3)), "shape"),
    ("D twice as large", _made(divergence_between=lambda self, l, r: (l - r) ** 2), "is wrong"),
    ("D is NaN far out", _made(divergence_between=lambda self, l, r: np.where(
        np.abs(l) > 20, np.nan, 0.5 * (l - r) ** 2)), "numbers from zero"),
    ("a range too narrow", _made(**_ends(lambda l: l - 2, lambda l: l + 2)), _UNSUMMED),
    ("a range too narrow beyond 15", _made(**_ends(
        lambda l: l - 9.3, lambda l: l + np.where(l > 15, 1.0, 9.3))), _UNSUMMED),
    ("a range turned round", _made(**_ends(lambda l: l + 9, lambda l: l - 9)), "lower one first"),
    ("one range for all", _made(**_ends(lambda l: -9.0, lambda l: 9.0)), "two arrays"),
    ("a scale of zero", _made(**_ends(lambda l: l - 9.3, lambda l: l + 9.3, lambda l: 0 * l)),
     "positive"),
    ("a scale of 1e9", _made(**_ends(lambda l: l - 9.3, lambda l: l + 9.3, lambda l: 0 * l + 1e9)),
     "no more than"),
    ("corners at NaN", _made(kinks=lambda self, l: np.nan * l), "kinks"),
    ("counts sum to .99", _made(lambda y, l: _counts(y, l) - 0.01, GoodCounts), "sum to one"),
    ("counts sum to .9 on (4, 8)", _made(lambda y, l: np.where(
        (l > 4) & (l < 8), _counts(y, l) - 0.1, _counts(y, l)), GoodCounts), "sum to one"),
    ("counts from one on", _made(lambda y, l: np.where(
        y == 0, -_INF, _counts(y, l)), GoodCounts), "sum to one"),
    ("half counts are drawn", _made(None, GoodCounts, draw=lambda self, l, rng: rng.poisson(
        l + 0.5) + 0.5), "in the support"),
]  # fmt: skip
