"""Light atoms bring the KKT function down where it is above, and add next to nothing."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from channelcode.capacity.search.light_atoms import light_atoms


def rows(centres):
    """Laws on a lattice that look Gaussian, as log-probabilities."""
    logs = -0.5 * np.square(np.arange(-10.0, 41.0) - centres[:, None])
    return logs - np.asarray(logsumexp(logs, axis=1, keepdims=True))


def test_every_candidate_ends_below_its_limit_and_little_is_added():
    places = np.linspace(0.0, 30.0, 61)
    logs, limits = rows(places), 0.5 + 0.2 * places**2
    start = rows(np.array([0.0]))[0]
    added = light_atoms(logs, start, limits, slack=1e-9, depth=0.01)
    output = logsumexp(np.vstack([start, logs + np.log(added + 1e-300)[:, None]]), axis=0)
    divergence = (np.exp(logs) * (logs - output)).sum(axis=1)
    assert (divergence <= limits + 1e-9).all()
    assert 0.0 < added.sum() < 0.2
    assert (added[places > 6.0] < 1e-3).all()


def test_a_law_that_is_nowhere_above_is_left_as_it_is():
    places = np.linspace(0.0, 3.0, 7)
    logs = rows(places)
    assert not light_atoms(logs, logs[0], np.full(7, 10.0), slack=1e-9, depth=0.01).any()


def test_no_more_atoms_than_asked_for():
    places = np.linspace(0.0, 30.0, 61)
    logs = rows(places)
    added = light_atoms(logs, logs[0], np.full(61, 3.0), slack=1e-9, depth=0.01, most=1)
    assert (added > 0.0).sum() == 1


def test_outputs_that_neither_law_has_are_nothing():
    """Noise of bounded support: both laws lack some outputs, and no warning comes of it."""
    with np.errstate(divide="ignore"):
        logs = np.log([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    added = light_atoms(logs, logs[0], np.array([1.0, 5.0]), slack=1e-9, depth=0.0)
    assert added[0] == 0.0
    output = np.exp(logs[0]) + added[1] * np.exp(logs[1])
    assert 0.5 * np.log(0.5 / output[1:3]).sum() <= 5.0 + 1e-9
