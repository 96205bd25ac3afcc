"""The models of the reference figures in `tests/data/encoders.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from apm import Grid, NonLinear
from channelcode import (
    Channel,
    Cloglog,
    Gaussian,
    Lapse,
    Logistic,
    Probit,
    UnknownGuess,
    UnknownLapse,
)

GOLDEN = json.loads((Path(__file__).parents[3] / "data" / "encoders.json").read_text())
DECIBEL = np.log(10.0) / 20.0


def weibull(theta: Any, X: Any) -> Any:
    return DECIBEL * theta[:, 1] * (X - theta[:, 0])


def normal(theta: Any, X: Any) -> Any:
    return (X - theta[:, 0]) / theta[:, 1]


def weibull_and_lapse(theta: Any, X: Any) -> Any:
    rate = np.broadcast_to(theta[:, 2], (len(X), len(theta)))
    return np.stack([weibull(theta, X), rate], axis=2)


def quest(name: str) -> tuple[Grid, np.ndarray, dict[str, Any]]:
    """The grid of a QUEST+ experiment, its stimuli `(n, 1)` and the figures."""
    figures = GOLDEN["A_quest"][name]
    domain = figures["params"]
    encoder, channel = {
        "weibull_2afc": (NonLinear(weibull, 2), Lapse(Cloglog(), low=0.5, high=0.02)),
        "normcdf_yesno": (NonLinear(normal, 2), Lapse(Probit(), low=0.02, high=0.02)),
        "weibull_lapse_unknown": (NonLinear(weibull_and_lapse, 3), UnknownLapse(Cloglog(), 0.5)),
    }[name]
    axes = [values for values in domain.values() if len(values) > 1]
    return Grid(axes, channel, encoder), np.array(figures["stim"])[:, None], figures


def locate(theta: Any, X: Any) -> Any:
    """l = b - |x - (u, v)|^2 / 2 with theta = (u, v, b)."""
    apart = X[:, None, :] - theta[None, :, :2]
    return theta[:, 2] - 0.5 * np.square(apart).sum(axis=2)


def item(theta: Any, X: Any) -> Any:
    """(l, guess rate) of a test's item, theta = (ln a, b, logit c)."""
    rate = np.broadcast_to(expit(theta[:, 2]), (len(X), len(theta)))
    return np.stack([np.exp(theta[:, 0]) * (X - theta[:, 1]), rate], axis=2)


def psychometric(theta: Any, X: Any) -> Any:
    """(l, lapse rate) of a psychometric function, theta = (t, ln s, u)."""
    rate = np.broadcast_to(0.2 * expit(theta[:, 2]), (len(X), len(theta)))
    return np.stack([np.exp(theta[:, 1]) * (X - theta[:, 0]), rate], axis=2)


def smc(name: str) -> tuple[Channel, NonLinear, Gaussian, np.ndarray, np.ndarray, dict[str, Any]]:
    """Channel, encoder, prior, examples, labels and figures of a model with three parameters."""
    figures = GOLDEN["F_smc"][name]
    channel, function = {
        "locate": (Logistic(), locate),
        "item": (UnknownGuess(Logistic()), item),
        "weibull": (UnknownLapse(Cloglog(), 0.5), psychometric),
    }[name]
    prior = Gaussian(figures["mu0"], np.diag(np.square(figures["sd0"])))
    X, y = np.array(figures["X"]), np.array(figures["y"])
    return channel, NonLinear(function, 3), prior, X, y, figures
