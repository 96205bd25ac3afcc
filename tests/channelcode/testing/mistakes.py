"""Channels with one deliberate mistake each; `MISTAKES` says what the contract must answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax

from channelcode import Channel, Derivatives, Logistic
from channelcode.channels.tails import Landmark, Tails

_NOISE = np.random.default_rng(0)


def _logs(l: Any) -> Any:
    return np.stack([-np.logaddexp(0, l), -np.logaddexp(0, -l)], axis=-1)


class Good(Channel):
    dim, num_outputs = 1, 2

    def log_prob(self, l):
        return _logs(l)


def mistake(name: str, log_prob: Any, **members: Any) -> type[Channel]:
    return type(name, (Good,), {"log_prob": log_prob, **members})


def within(low: float, high: float, inside: Any) -> Any:
    """A log_prob that is right outside (low, high); `inside(rows)` gives the rows there."""

    def log_prob(self, l):
        rows = _logs(l)
        spot = ((l > low) & (l < high))[..., None]
        return np.where(spot, inside(rows), rows)

    return log_prob


def derived(change: Any) -> dict[str, Any]:
    """Members with closed-form derivatives, spoiled by `change(l, gradient, hessian)`."""

    def derivatives(self, l):
        return Derivatives(*change(l, *Logistic().derivatives(l)))

    return {"derivatives": derivatives}


def beyond(start: float, factor: float) -> Any:
    return lambda l: np.where(l > start, factor, 1.0)[..., None]


def _not_vectorised(self, l):
    p = 1.0 / (1.0 + math.exp(-l))
    return np.log([1 - p, p])


def _branching(self, l):
    return _logs(l) if l > 0 else _logs(-l)[..., ::-1]


def _in_place(self, l):
    result = _logs(l)
    if l.flags.writeable:
        l *= 2
    return result


class Buffered(Good):
    """Fills the same array again and again."""

    def log_prob(self, l):
        rows = _logs(l)
        held = getattr(self, "_held", None)
        if held is None or held.shape != rows.shape:
            self._held = held = np.empty_like(rows)
        held[...] = rows
        return held


class Stale(Good):
    """Remembers the first answer of each shape."""

    def __init__(self):
        self.kept = {}

    def log_prob(self, l):
        return self.kept.setdefault(l.shape, _logs(l)).copy()


class Forgets(Good):
    """Loses its parameter when it is copied."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def __reduce__(self):
        return (Forgets, ())

    def log_prob(self, l):
        return _logs(l - self.shift)


class Vector(Channel):
    dim, num_outputs = 3, 3

    def log_prob(self, l):
        return log_softmax(l, axis=-1)


def _vector(name: str, log_prob: Any) -> type[Channel]:
    return type(name, (Vector,), {"log_prob": log_prob})


def _promise(tails: Tails) -> dict[str, Any]:
    return {"tails": lambda self: tails}


def _sine(self, l):
    p = 0.5 + 0.4 * np.sin(np.clip(l, -1e6, 1e6))
    return np.log(np.stack([1 - p, p], axis=-1))


def _bump(self, l):
    p = 0.1 + 0.8 * np.exp(-((l - 30.0) ** 2))
    return np.log(np.stack([1 - p, p], axis=-1))


# (name, channel, part of the message)
MISTAKES: list[tuple[str, Channel, str]] = [
    ("sums to .99", mistake("A", lambda s, l: _logs(l) + [0.0, -0.01])(), "sum to one"),
    ("wrong on (1, 2)", mistake("B", within(1, 2, lambda r: r - 0.1))(), "sum to one; at l = 1"),
    ("wrong on (7.3, 7.31)", mistake("C", within(7.3, 7.31, lambda r: r - 0.1))(), "sum to one"),
    ("NaN on (40, 90)", mistake("D", within(40, 90, lambda r: np.nan))(), "NaN"),
    ("NaN beyond 1e5", mistake("E", within(1e5, np.inf, lambda r: np.nan))(), "NaN"),
    ("all -inf on (10, 25)", mistake("F", within(10, 25, lambda r: -np.inf))(), "sum to 0.0"),
    ("+inf beyond 8", mistake("G", within(8, 9, lambda r: np.inf))(), "must not exceed 0"),
    ("complex", mistake("H", lambda s, l: _logs(l) + 0j)(), "real numbers"),
    ("complex with a part", mistake("I", lambda s, l: _logs(l) + 1j)(), "real numbers"),
    ("text", mistake("J", lambda s, l: np.full((*l.shape, 2), "half"))(), "real numbers"),
    ("nothing", mistake("K", lambda s, l: None)(), "shape"),
    ("above zero", mistake("L", lambda s, l: _logs(l) + 0.5)(), "must not exceed 0"),
    ("bits", mistake("M", lambda s, l: _logs(l) / np.log(2))(), "sum to one"),
    ("probabilities", mistake("N", lambda s, l: np.exp(_logs(l)))(), "must not exceed 0"),
    ("outputs first", mistake("O", lambda s, l: np.moveaxis(_logs(l), -1, 0))(), "shape"),
    ("one output too few", mistake("P", lambda s, l: _logs(l), num_outputs=3)(), "shape"),
    ("single input kept as batch", mistake("Q", lambda s, l: _logs(np.atleast_1d(l)))(), "shape"),
    ("math.exp", mistake("R", _not_vectorised)(), "not vectorised"),
    ("if on an array", mistake("S", _branching)(), "not vectorised"),
    (
        "overflow",
        mistake("T", lambda s, l: np.stack([0 * l, l], -1) - np.log1p(np.exp(l))[..., None])(),
        "NaN|sum to",
    ),
    ("single precision", mistake("U", lambda s, l: np.float32(_logs(l)))(), "sum to one"),
    ("writes into l", mistake("V", _in_place)(), "must not write"),
    ("random", mistake("W", lambda s, l: _logs(l + _NOISE.normal()))(), "same answer"),
    ("depends on the batch", mistake("X", lambda s, l: _logs(l - np.mean(l)))(), "one by one"),
    (
        "sums over the wrong axis",
        _vector("Y", lambda s, l: log_softmax(l, axis=min(1, l.ndim - 1)))(),
        "one by one|sum to one",
    ),
    ("buffer reused", Buffered(), "new array"),
    ("answer remembered", Stale(), "same answer|new array|one by one"),
    ("parameter lost in a copy", Forgets(1.0), "pickled copy"),
    ("gradient off by .1 %", mistake("Z", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (1.001 * g, h)))(), "gradient is wrong"),
    ("gradient wrong for l > 6", mistake("AA", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (g * beyond(6, 1.1)(l), h)))(), "gradient is wrong at l = 6"),
    ("gradient wrong for l < -6", mistake("AB", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (g * beyond(6, 1.1)(-l), h)))(), "gradient is wrong"),
    ("hessian of the wrong sign", mistake("AC", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (g, -h)))(), "hessian is wrong"),
    ("gradient NaN in a tail", mistake("AD", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (np.where(l[..., None] > 30, np.nan, g), h)))(), "gradient is wrong"),
    ("derivatives of a wrong shape", mistake("AE", lambda s, l: _logs(l), **derived(
        lambda l, g, h: (g[..., None], h)))(), "must have shapes"),
    ("num_outputs = 2.0", mistake("AF", lambda s, l: _logs(l), num_outputs=2.0)(), "integer"),
    ("dim = 0", mistake("AG", lambda s, l: _logs(l), dim=0)(), "dim must be an integer"),
    ("0/0 at zero", mistake("AH", lambda s, l: _logs(l * (l / l)))(), "NaN"),
    ("overflow of 1/l", mistake("AI", lambda s, l: _logs(l + 0 * (1 / l)))(), "NaN"),
    ("square root of l", mistake("AJ", lambda s, l: _logs(np.sqrt(l)))(), "NaN"),
    (
        "negative probability",
        mistake("AK", lambda s, l: np.log(np.stack([0.5 - l / 99, 0.5 + l / 99], -1)))(),
        "NaN",
    ),
    (
        "l ** 12 overflows",
        mistake("AL", lambda s, l: _logs(l) + (l**12 - l**12)[..., None])(),
        "NaN",
    ),
    ("wrong along an axis only", _vector("AM", lambda s, l: log_softmax(l, axis=-1) - np.where(
        (np.abs(l[..., 0]) > 5) & (l[..., 1] == 0), 0.2, 0.0)[..., None])(), "sum to one"),
    ("wrong far out in R^3", _vector("AN", lambda s, l: log_softmax(l, axis=-1) - np.where(
        np.abs(l).sum(-1) > 1e9, 0.2, 0.0)[..., None])(), "sum to one"),
    (
        "promises one peak, has many",
        mistake("AO", _sine, **_promise(Tails((Landmark(0.0, 1.0),), turns_once=True)))(),
        "once|landmark",
    ),
    (
        "hides a bend",
        mistake("AP", _bump, **_promise(Tails((Landmark(0.0, 9.0),))))(),
        "landmark",
    ),
    (
        "clips without a word",
        mistake("AQ", lambda s, l: np.log(np.clip(np.stack([expit(-l), expit(l)], -1), 1e-6, 1)))(),
        "sum to one",
    ),
]  # fmt: skip
