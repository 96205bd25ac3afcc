"""What has to be decoded: the parameters, or the predictions at target inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.pools.inputs import as_matrix, is_streamed, read_only_view
from apm.selectors.candidates import candidate_laws
from apm.selectors.matching.looks import Look
from apm.selectors.matching.target import Match
from apm.selectors.matching.views import View, as_choice, known_slope, known_view
from apm.selectors.ranking import Indices
from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument

if TYPE_CHECKING:
    from apm.selectors.matching.apm import APM
    from apm.selectors.matching.effective_channel import EffectiveChannel
    from apm.selectors.matching.pooled_form import PooledForm


class Message(ABC):
    """What the labels are to tell about; it decides what counts as signal in a channel input."""

    #: What the message adds to the description of the channel.
    noise: ClassVar[str] = ""

    @abstractmethod
    def match(self, selector: APM, belief: Belief, X: Any, candidates: Any, view: View) -> Match:
        """Every candidate beside the target: the parts of its score.

        X is the whole pool, `candidates` their rows in it (None: all), `view` their channel and
        laws.
        """

    def budget(self, selector: APM, belief: Belief, X: Any, candidates: Any, view: View) -> float:
        """The budget of these candidates, in the units of what `match` compares."""
        return view.budget(selector.power, belief, X, radius=selector.radius)

    def needs_all_rows(self, channel: Any, belief: Belief) -> str | None:
        """Why scores with this message need all rows at once; None if they do not."""
        return f"the message {type(self).__name__} is not known to go by rows"

    @abstractmethod
    def describe(self, rows: int) -> str:
        """The message in words, for a pool of so many rows."""

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This message with what it must remember of the initial pool X."""
        return self

    def surveyed(self, channel: Any, belief: Belief, X: Any) -> Message:
        """This message with what all parts of the pool X share, for one selection."""
        return self.prepared(belief, X)

    def look(self, selector: APM, belief: Belief, X: Any, candidates: Indices) -> Look | None:
        """What `match` needs of these rows of X whatever the budget; None if it is not known."""
        return None


@dataclass(frozen=True)
class Parameters(Message):
    """All parameters, as in the paper: `-W2^2` of the induced law to the optimal input."""

    def match(self, selector: APM, belief: Belief, X: Any, candidates: Any, view: View) -> Match:
        look = Look(view.laws, view)
        return look.match(selector, look.budget(selector, belief, X))

    def look(self, selector: APM, belief: Belief, X: Any, candidates: Indices) -> Look | None:
        laws = candidate_laws(belief, X, candidates)
        return Look(laws, selector.view(belief, laws))

    def needs_all_rows(self, channel: Any, belief: Belief) -> str | None:
        return known_view(channel)

    def describe(self, rows: int) -> str:
        return "the parameters"


@dataclass(frozen=True)
class Predictions(Message):
    """The predictions at target inputs x*: what of a label is not about them is noise.

        score(x) = -E_x*[ W2^2( N(k m, k^2 sigma^2 rho^2), T ) ],  k^2 = 1/(1 + b sigma^2 (1-rho^2))

    with rho^2 the part of the variance of x's input that the logits at x* explain, b = pi/8 for the
    logistic channel, and T the optimal input at a budget in the effective channel's own units
    (`docs/multiclass.md`).

    - `targets` `(t, d)`; None draws `num_targets` rows of the (initial) pool by the seed `rng`;
    - `weighted`: targets count by the entropy of their own label, so that settled ones do not;
      False counts all alike;
    - `pooled`: the average share `E_x*[rho^2]` in one effective channel, instead of the average of
      the scores over targets;
    - `exact`: the exactly blurred channel instead of the slope approximation.

    Laws known by samples enter by their mean, variance and correlations.

    >>> from apm import APM, Belief, VariationalLogistic
    >>> belief = Belief(VariationalLogistic(1.0))
    >>> int(APM(message=Predictions()).select(belief, [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])[0])
    2
    """

    noise = ", behind the noise of what is not about them"
    targets: Any = field(default=None, compare=False)
    num_targets: int = 200
    weighted: bool = field(default=True, kw_only=True)
    pooled: bool = field(default=True, kw_only=True)
    exact: bool = field(default=False, kw_only=True)
    rng: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        integer("num_targets", self.num_targets, least=1)
        integer("rng", self.rng, least=0)
        if self.targets is not None:
            targets = as_matrix(self.targets, "targets")
            if len(targets) == 0:
                raise InvalidArgument("targets", "must have at least one row", targets.shape)
            object.__setattr__(self, "targets", targets)

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This message with its targets drawn from the initial pool."""
        return self if self.targets is not None else replace(self, targets=self.drawn(X))

    def drawn(self, X: ArrayLike) -> Any:
        """The targets: those given, or `num_targets` rows of X without repetition."""
        if self.targets is not None:
            return self.targets
        matrix = as_matrix(X)
        if self.num_targets >= len(matrix):
            return matrix[:] if is_streamed(matrix) else matrix
        rows = np.random.default_rng(self.rng).choice(len(matrix), self.num_targets, replace=False)
        return read_only_view(matrix[np.sort(rows)])

    def match(self, selector: APM, belief: Belief, X: Any, candidates: Any, view: View) -> Match:
        look = Look(view.laws, self.effective(selector.channel, belief, X, candidates, view))
        return look.match(selector, look.budget(selector, belief, X))

    def look(self, selector: APM, belief: Belief, X: Any, candidates: Indices) -> Look | None:
        laws = candidate_laws(belief, X, candidates)
        view = selector.view(belief, laws)
        return Look(laws, self.effective(selector.channel, belief, X, candidates, view))

    def surveyed(self, channel: Any, belief: Belief, X: Any) -> Message:
        from apm.selectors.matching.pooled_form import PooledForm

        sized, targets = belief.sized(X), self.drawn(X)
        weights = self.target_weights(channel, sized, X, targets)
        plain = self.pooled and not self.exact
        form = PooledForm.of(sized, X, targets, weights) if plain else None
        own = {each.name: getattr(self, each.name) for each in fields(Predictions)}
        return SurveyedPredictions(**{**own, "targets": targets}, weights=weights, form=form)

    def budget(self, selector: APM, belief: Belief, X: Any, candidates: Any, view: View) -> float:
        effective = self.effective(selector.channel, belief, X, candidates, view)
        return effective.budget(selector.power, X, radius=selector.radius)

    def needs_all_rows(self, channel: Any, belief: Belief) -> str | None:
        return known_view(channel) or known_slope(channel, belief, exact=self.exact)

    def describe(self, rows: int) -> str:
        count = min(self.num_targets, rows) if self.targets is None else len(self.targets)
        return f"the predictions at {count} targets"

    def effective(
        self, channel: Any, belief: Belief, X: Any, candidates: Any, view: View
    ) -> EffectiveChannel:
        """The channel from the predictions at the targets through every candidate to its label."""
        from apm.selectors.matching.effective_channel import EffectiveChannel

        belief, targets = belief.sized(X), self.drawn(X)
        weights = self.target_weights(channel, belief, X, targets)
        return EffectiveChannel(
            belief, view, X, candidates, targets, weights, exact=self.exact, pooled=self.pooled
        )

    def target_weights(self, channel: Any, belief: Belief, X: Any, targets: Any) -> Array:
        """How much each target counts, `(t,)`, sum one."""
        from apm.selectors.matching.effective_channel import stakes

        if self.weighted:
            return stakes(as_choice(channel), belief, X, targets)
        return np.full(len(targets), 1.0 / len(targets))


@dataclass(frozen=True)
class SurveyedPredictions(Predictions):
    """The predictions for one selection from a pool in parts: the weights of the targets fixed.

    `form` gives shares and variances by one product (`PooledForm`), where there is one.
    """

    weights: Any = field(default=None, kw_only=True)
    form: PooledForm | None = field(default=None, kw_only=True)

    def target_weights(self, channel: Any, belief: Belief, X: Any, targets: Any) -> Array:
        return self.weights

    def look(self, selector: APM, belief: Belief, X: Any, candidates: Indices) -> Look | None:
        found = None if self.form is None else self.form.look(X, candidates)
        if found is None:
            return super().look(selector, belief, X, candidates)
        laws, share = found
        view = selector.view(belief, laws)
        effective = super().effective(selector.channel, belief, X, candidates, view)
        return Look(laws, replace(effective, known=share))

    def effective(
        self, channel: Any, belief: Belief, X: Any, candidates: Any, view: View
    ) -> EffectiveChannel:
        effective = super().effective(channel, belief, X, candidates, view)
        found = None if self.form is None or is_streamed(X) else self.form.look(X, candidates)
        return effective if found is None else replace(effective, known=found[1])
