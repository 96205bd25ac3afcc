"""What further labels would bring, as far as the model can tell."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from apm.answering.state import Setup, State, chosen_rows
from apm.belief import Belief
from apm.insight.replay import sampled_rows
from apm.posteriors import Bohning, CollapsedWeights, Laplace, VariationalLogistic
from apm.selectors.draws import drawn_inputs
from channelcode._validation import Array
from channelcode.errors import InvalidArgument, NotConverged

ROWS = 300  # of the pool, which the averages are over
DRAWS = 200  # of theta, for the interval
FANTASIES = 8  # of the next labels, for the gain
NEXT = 10  # labels
LEVEL = 0.9
MOST_WEIGHTS = 1000  # whose exact curvature is formed for the interval


@dataclass(frozen=True)
class StopAdvice:
    """The model's own opinion of what it knows; nothing here was measured on labels held back.

    - `labels`: how many are in force; `rows`: how many rows of the pool the averages are over;
    - `remaining_bits`: the mean of I(theta; Y_x) over these rows, in bits: how much knowing the
      parameters would still tell about the label of a row;
    - `accuracy`: the mean probability of the predicted labels (`predict_proba`), and `interval`
      its 5 % to 95 % range over draws of the parameters (with the exact curvature of the posterior
      where there are at most 1,000 weights, else narrower);
    - `gain`: by how much `accuracy` is expected to rise with the next `next_labels` labels that the
      selector would ask for, averaged over labels drawn from the posterior; `gain_error` is the
      standard error of that average. `gain_bits` is the expected fall of `remaining_bits`. None
      while fewer than two classes are known, or where no row is left.
    """

    labels: int
    rows: int
    remaining_bits: float
    accuracy: float
    interval: tuple[float, float]
    next_labels: int
    gain: float | None
    gain_error: float | None
    gain_bits: float | None

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            f"after {self.labels} labels, by the model's own account (over {self.rows} rows):",
            f"  expected accuracy {self.accuracy:.1%} ({low:.1%} to {high:.1%})",
            f"  {self.remaining_bits:.3f} bits still to learn about the label of a row",
        ]
        if self.gain is not None:
            lines.append(
                f"  the next {self.next_labels} labels: {self.gain:+.1%} of accuracy "
                f"(standard error {self.gain_error:.1%}), {self.gain_bits:.3f} bits fewer"
            )
        return "\n".join(lines)


def remaining_bits(belief: Belief, features: Any) -> float:
    """The mean of I(theta; Y_x) over rows of encoded features `(m, p)`, in bits."""
    return float(np.mean(belief.information_gain(features)))


def stop_advice(setup: Setup, state: State) -> StopAdvice:
    """The advice for a state of a learner; the same whenever it is asked."""
    state.belief.require_classes()
    features = sampled_rows(state, ROWS, setup.seed)
    rng = np.random.default_rng([setup.seed % 2**63, len(state.journal)])
    belief = state.belief
    bits, (accuracy, codes) = remaining_bits(belief, features), _expected(belief, features)
    by_draw = _by_draw(with_full_spread(belief), features, codes, rng)
    low, high = np.quantile(by_draw, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    shift = accuracy - float(np.mean(by_draw))  # the spread of the draws, around the expectation
    low, high = max(low + shift, 0.0), min(high + shift, 1.0)
    gains = _gains(setup, state, features, rng)
    count, changes = (NEXT, None) if gains is None else gains
    gain = error = fewer = None
    if changes is not None:
        gain, fewer = float(np.mean(changes[:, 0]) - accuracy), float(bits - np.mean(changes[:, 1]))
        error = float(np.std(changes[:, 0], ddof=1) / np.sqrt(len(changes)))
    told = len(state.journal.answers.labels)
    interval = float(low), float(high)
    return StopAdvice(told, len(features), bits, accuracy, interval, count, gain, error, fewer)


def _expected(belief: Belief, features: Any) -> tuple[float, Any]:
    """The mean probability of the predicted outputs, and these outputs `(m,)`."""
    certain = belief.posterior.certain_outputs
    probability = belief.predict_proba(features)[:, certain]
    codes = certain[np.argmax(probability, axis=1)]
    return float(np.mean(probability.max(axis=1))), codes


def predicted_outputs(belief: Belief, features: Any) -> Any:
    """The output that is predicted for each row, `(m,)`: as `Learner.predict` does."""
    certain = belief.posterior.certain_outputs
    return certain[np.argmax(belief.predict_proba(features)[:, certain], axis=1)]


def with_full_spread(belief: Belief) -> Belief:
    """The belief with a Gaussian of the curvature at the maximum, where that is small enough.

    The bounds behind `VariationalLogistic` and `Bohning` make their Gaussians narrower than the
    posterior: 90 % intervals from their draws hold the truth in three of four cases.
    """
    posterior = belief.posterior
    size = posterior.dim * len(posterior.precision) if posterior.num_features else 0
    narrow = isinstance(posterior, VariationalLogistic | Bohning)
    if not narrow or posterior.num_observations == 0 or size > MOST_WEIGHTS:
        return belief
    wide = Laplace(
        posterior.channel,
        posterior.prior_precision,
        intercept=posterior.intercept,
        intercept_precision=posterior.intercept_precision,
        classes=np.arange(posterior.num_labels),
    )
    examples = posterior.design[:, : posterior.num_features]
    try:
        fitted = wide.fit(examples, posterior.codes, posterior.sample_weight)
    except NotConverged:
        return belief
    return Belief(fitted, belief.encoder, belief.channel)


def _by_draw(belief: Belief, features: Any, codes: Any, rng: np.random.Generator) -> Array:
    """The share of rows whose predicted output is right under each draw of theta, `(s,)`."""
    total, start = 0.0, 0
    for inputs in drawn_inputs(belief, features, DRAWS, rng):
        chosen = codes[start : start + len(inputs)]
        probability = belief.channel.prob(inputs)
        picked = np.take_along_axis(probability, chosen[:, None, None], axis=-1)[..., 0]
        total = total + picked.sum(axis=0)
        start += len(inputs)
    return np.asarray(total) / len(features)


def _gains(
    setup: Setup, state: State, features: Any, rng: np.random.Generator
) -> tuple[int, Array] | None:
    """How many labels are next; accuracy and bits left after each fantasy of them, `(f, 2)`."""
    belief, left = state.belief, int(np.count_nonzero(state.open))
    classes = belief.posterior.classes_
    certain = belief.posterior.certain_outputs
    count = min(NEXT, left)
    if count == 0 or len(certain) < 2 or belief.posterior.num_observations == 0:
        return None
    seed = (setup.seed << 64) + len(state.journal)
    choice = chosen_rows(state, count, seed)
    rows = state.features[choice.indices]
    inputs = np.concatenate(list(drawn_inputs(belief, rows, FANTASIES, rng)))
    found = []
    for draw in range(min(FANTASIES, inputs.shape[1])):
        probability = belief.channel.prob(inputs[:, draw])[:, certain]
        probability /= probability.sum(axis=1, keepdims=True)
        codes = [rng.choice(certain, p=row) for row in probability]
        labels = [classes[code].item() for code in codes]
        try:
            with warnings.catch_warnings():  # of labels that nobody told
                warnings.simplefilter("ignore", CollapsedWeights)
                later = belief.after(belief.posterior.update(rows, labels))
        except NotConverged:  # labels that no data would have: another draw will do
            continue
        found.append((_expected(later, features)[0], remaining_bits(later, features)))
    if len(found) < 2:
        raise InvalidArgument("learner", "must have a posterior that takes more labels", "none")
    return count, np.array(found)
