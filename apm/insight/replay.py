"""The beliefs that a learner had after each of its labels in force, and a sample of its pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from apm.answering.automatic import default_again
from apm.answering.state import Setup, State, updated
from apm.belief import Belief
from apm.encoders import Linear
from apm.pools.inputs import is_streamed


def sampled_rows(state: State, rows: int, seed: int) -> Any:
    """The features of at most `rows` rows of the pool, the same ones for a seed, `(m, p)`."""
    features = state.features
    if len(features) <= rows:
        return features[:] if is_streamed(features) else features
    chosen = np.random.default_rng([seed % 2**63, 7]).choice(len(features), rows, replace=False)
    return features[np.sort(chosen)]


def before_labels(setup: Setup, state: State) -> Belief:
    """The belief about the encoded pool before any label, for as many classes as there are now."""
    posterior, channel = setup.initial, state.belief.channel
    if posterior.num_labels != state.belief.posterior.num_labels:
        posterior = default_again(posterior, state.belief.posterior.num_labels)
    return Belief(posterior, Linear(), channel).sized(state.features)


def beliefs(setup: Setup, state: State, start: int = 0) -> Iterator[tuple[int, Belief]]:
    """Number of labels and belief, from `start` labels up to all that are in force."""
    answers = state.journal.answers.answers
    belief = before_labels(setup, state)
    if start:
        belief = updated(belief, state.features, list(answers[:start]))
    yield start, belief
    for place in range(start, len(answers)):
        belief = updated(belief, state.features, [answers[place]])
        yield place + 1, belief
