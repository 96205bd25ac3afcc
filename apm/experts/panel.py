"""One posterior of the answers of all experts, each through a channel of his own."""

from __future__ import annotations

from typing import Any

import numpy as np

from apm.belief import Belief
from apm.encoders import Affine, Encoder, Linear
from apm.encoders.experts import Chosen, LapseByLogit, WithExpert
from apm.posteriors import Draws, EncodedLaplace, Grid, Laplace, Posterior
from apm.posteriors.samples.axes import log_cells
from apm.posteriors.samples.grid import Kept
from channelcode._validation import Array
from channelcode.channels import Logistic, Softmax
from channelcode.errors import InvalidArgument
from channelcode.measures import EmpiricalPool, Gaussian, Pool, gaussian_pool

RATE_AXIS = np.linspace(-3.0, 3.0, 13)  # of an unknown rate on a grid, in prior deviations


def default_model(channel: Chosen, classes: Any = None, prior_precision: Any = None) -> Laplace:
    """Regression with a constant, for as many classes as the experts know."""
    k = channel.inner_dim
    own = channel.truth
    if own is None:
        own = Logistic() if k == 1 else Softmax(k)
    precision = 1.0 if prior_precision is None else prior_precision
    return Laplace(own, precision, intercept=True, classes=classes)


def panel(model: Posterior, channel: Chosen, X: Array) -> Posterior:
    """A posterior without labels, with the experts' channels in place of its own."""
    if not isinstance(model, Posterior) or model.num_observations:
        raise InvalidArgument("model", "must be a posterior without labels", model)
    if (model.dim, model.num_labels) != (channel.inner_dim, channel.num_outputs):
        raise InvalidArgument("model", "must have the input and outputs of the experts", model)
    encoder: Any = getattr(model, "encoder", None)
    if encoder is None:
        if not isinstance(model, Laplace) or model.evidence is not None:
            rule = (
                "must be Laplace with a number as prior precision, or a posterior with an encoder "
                "such as Grid, Particles or Draws"
            )
            raise InvalidArgument("model", rule, model)
        if model.intercept and model.intercept_precision != model.prior_precision:
            rule = "must have one prior precision: with experts the intercept has that of the rest"
            raise InvalidArgument("model", rule, model)
        inner: Encoder = Affine() if model.intercept else Linear()
        pair = WithExpert(inner, channel, _count(inner, channel, X))
        return EncodedLaplace(
            channel, model.prior_precision, encoder=pair, restarts=0, classes=model._given
        )
    pair = WithExpert(encoder, channel, _count(encoder, channel, X))
    make: Any = model._options
    parts = {**model.parts(), "channel": channel, "encoder": pair}
    options = make(model.state(), **parts)
    if channel.unknown:
        _add_rates(model, options, len(channel.unknown))
    return type(model)(**options)


def _add_rates(model: Posterior, options: dict[str, Any], count: int) -> None:
    """Room for unknown rates: v ~ N(0, 1) each, independent of all else."""
    if isinstance(model, Grid):
        axes, logs = list(options["axes"]), options["prior"].log_masses
        density = options["prior"].density
        one = -0.5 * np.square(RATE_AXIS)
        if density:
            one = one - 0.5 * np.log(2.0 * np.pi) + log_cells((RATE_AXIS,))
        else:
            one = one - np.log(np.exp(one).sum())
        for _ in range(count):
            axes.append(RATE_AXIS)
            logs = np.add.outer(logs, one).ravel()
        options |= {"axes": axes, "prior": Kept(logs, density)}
        return
    if isinstance(model, Draws):
        rule = "must not be Draws where a rate is unknown: they hold no draws of the rate"
        raise InvalidArgument("model", rule, model)
    prior = options.get("prior")
    if isinstance(prior, Gaussian):
        mean, spread = np.atleast_1d(prior.mean), np.atleast_2d(prior.covariance)
        wide = np.eye(len(mean) + count)
        wide[: len(mean), : len(mean)] = spread
        options["prior"] = Gaussian(np.append(mean, np.zeros(count)), wide)
    elif prior is not None:
        rule = "must have a Gaussian prior where a rate is unknown"
        raise InvalidArgument("model", rule, model)


def _count(encoder: Encoder, channel: Chosen, X: Array) -> int:
    known = encoder.num_parameters
    return channel.inner_dim * encoder.encode(X[:1]).shape[1] if known is None else known


def input_laws(belief: Belief, X: Array) -> Pool:
    """The laws of l itself at examples X `(n, d)`, under a belief about pairs."""
    channel: Any = belief.channel
    k = channel.inner_dim
    laws = belief.push(np.column_stack((X, np.zeros(len(X)))))
    if isinstance(laws, EmpiricalPool):
        samples = laws.samples[..., 0] if k == 1 else laws.samples[..., :k]
        return EmpiricalPool(samples, laws.weights)
    mean, spread = np.asarray(laws.mean), np.asarray(laws.covariance)  # type: ignore[attr-defined]
    if k == 1:
        return gaussian_pool(mean[:, 0], spread[:, 0, 0])
    return gaussian_pool(mean[:, :k], spread[:, :k, :k])


def unknown_rates(posterior: Any, channel: Chosen) -> dict[str, tuple[float, float]]:
    """Mean and deviation of each unknown rate of wrong answers, by the expert's name.

    On samples they are those of the samples; under a Gaussian posterior integrals over v.
    """
    found = {}
    for place, expert in enumerate(channel.unknown):
        part = channel.part(expert)
        if not isinstance(part, LapseByLogit):
            continue
        column = place - len(channel.unknown)
        if posterior.gives_samples:
            values, mass = posterior.theta[:, column], posterior.weights
        else:
            mean, spread = np.asarray(posterior.mean), np.asarray(posterior.covariance)
            z = np.linspace(-6.0, 6.0, 401)
            values = mean[column] + np.sqrt(spread[column, column]) * z
            mass = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
        rate = part.rate(values)
        centre = float(mass @ rate)
        spread_of_rate = float(np.sqrt(mass @ np.square(rate - centre)))
        found[channel.experts[expert].name] = centre, spread_of_rate
    return found
