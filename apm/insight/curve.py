"""How a learner improved, label by label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from apm.answering.state import Setup, State
from apm.belief import Belief
from apm.insight.advice import predicted_outputs
from apm.insight.replay import beliefs, sampled_rows
from apm.posteriors.labels import as_labels
from apm.storage.frames import frame
from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument

ROWS = 300


@dataclass(frozen=True)
class Curve:
    """Accuracy and log loss (nats) after each number of `labels`, `(m,)` each.

    `measured` says whether they were measured on labels held back, or are what the model expects of
    itself on its pool: then `accuracy` is the mean probability of the predicted labels and
    `log_loss` the mean entropy.
    """

    labels: np.ndarray
    accuracy: Array = field(repr=False)
    log_loss: Array = field(repr=False)
    measured: bool

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each number of labels."""
        columns = {"labels": self.labels, "accuracy": self.accuracy, "log_loss": self.log_loss}
        return frame(columns)


def curve(setup: Setup, state: State, features: Any, y: Any, every: int) -> Curve:
    """The curve of a state; `features` None means a sample of the pool, and no labels `y`."""
    step = integer("every", every, least=1)
    state.belief.require_classes()
    truth = None
    if features is None:
        features = sampled_rows(state, ROWS, setup.seed)
    else:
        truth = as_labels(y)
        if len(truth) != len(features) or len(truth) == 0:
            rule = f"must have one label for each of {len(features)} rows"
            raise InvalidArgument("y", rule, f"{len(truth)} labels")
    total, found = len(state.journal), []
    for count, belief in beliefs(setup, state):
        if truth is not None and belief.posterior.num_observations == 0:
            continue  # it does not know the names of the classes yet
        if count % step == 0 or count == total:
            found.append((count, *_judged(belief, features, truth)))
    if not found:
        raise InvalidArgument("learner", "must have a label", "none yet")
    counts, accuracy, loss = zip(*found)
    return Curve(np.array(counts), np.array(accuracy), np.array(loss), truth is not None)


def _judged(belief: Belief, features: Any, truth: Any) -> tuple[float, float]:
    """Accuracy and log loss of a belief on labels, or by its own expectation."""
    posterior = belief.posterior
    if truth is None:
        from scipy.special import entr

        outputs, codes = belief.output_proba(features), predicted_outputs(belief, features)
        expected = float(np.mean(outputs[np.arange(len(codes)), codes]))
        return expected, float(np.mean(entr(outputs).sum(axis=1)))
    probability, classes = belief.predict_proba(features), posterior.classes_
    guessed = classes[predicted_outputs(belief, features)]
    given = np.zeros(len(truth))
    for place, name in enumerate(classes.tolist()):
        given[truth == name] = probability[truth == name, place]
    with np.errstate(divide="ignore"):  # a class not seen yet has no probability: the loss is inf
        return float(np.mean(guessed == truth)), float(-np.mean(np.log(given)))
