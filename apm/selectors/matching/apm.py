"""Approximate posterior matching, for any channel."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

from numpy.typing import ArrayLike

from apm.belief import Belief
from apm.power import FixedPower, PowerPolicy, SpectralPower
from apm.selectors.base import PoolSelector, Rating
from apm.selectors.candidates import candidate_laws, held
from apm.selectors.explanation import Seen
from apm.selectors.matching.looks import Look
from apm.selectors.matching.messages import Message, Parameters
from apm.selectors.matching.target import Match
from apm.selectors.matching.views import View, as_choice
from apm.selectors.ranking import Indices
from channelcode._validation import Array, Seed, non_negative
from channelcode.errors import InvalidArgument, warn_caller
from channelcode.measures import Pool

ALL_CLASSES = (
    "APM() looks at all {} classes at once, which labelled worse than random in most conditions of "
    "the study (docs/multiclass.md): use APM(SharePower(), channel=ContestedPair(), "
    "message=Predictions()), the default of Learner, or say channel=AllClasses() if it is meant"
)


@dataclass(frozen=True)
class Matching(PoolSelector):
    """What APM and its two halves share: a power policy and the target that it gives.

    - `power`: the budget of the target (`SpectralPower()` is the paper's, Algorithm 1);
    - `radius`: B, the largest feature norm over the initial pool; None takes the pool at hand.
      A `Learner` sets it once (`prepared`), since the paper's B does not shrink with the pool;
    - `solver`: a capacity solver; None uses the theorem for logistic and probit channels with
      Gaussian inputs, and `capacity`'s own choice for all others.
    """

    power: PowerPolicy = field(default_factory=SpectralPower)
    radius: float | None = field(default=None, kw_only=True)
    solver: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.power, PowerPolicy):
            raise InvalidArgument(
                "power", "must be a power policy such as SpectralPower()", self.power
            )
        if self.radius is not None:
            object.__setattr__(self, "radius", non_negative("radius", self.radius))

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This selector with B fixed by the initial pool X."""
        if self.radius is not None or not belief.posterior.linear:
            return self
        return replace(self, radius=belief.radius(X))

    def needs_all_rows(self, belief: Belief) -> str | None:
        if not self.power.can_join:
            name = type(self.power).__name__
            return f"the budget {name} does not say how amounts of parts are joined (joined)"
        return super().needs_all_rows(belief)

    @property
    def looks_twice(self) -> bool:
        return self.power.over_pool

    def surveyed(self, belief: Belief, X: Any, is_open: Any, rng: int) -> Self:
        """This selector with B and the budget of all candidates fixed."""
        from apm.selectors.tiled import tile_values

        ready: Any = Matching.prepared(self, belief, X)
        if not self.power.over_pool:
            return ready

        def amount(_: int, tile: Any, places: Indices) -> float:
            laws = candidate_laws(belief, tile, places)
            return ready.tile_budget(belief, tile, places, laws)

        amounts = tile_values(X, is_open, amount)
        return replace(ready, power=FixedPower(self.power.joined(amounts)))

    def tile_budget(self, belief: Belief, X: Any, candidates: Indices, laws: Pool) -> float:
        """The budget that some candidates of a tile X would have by themselves."""
        return self.budget(belief, X, laws=laws)

    def budget(self, belief: Belief, X: ArrayLike, *, laws: Pool | None = None) -> float:
        """The power P of the target for candidates X (or their laws)."""
        return self.power.power(belief, X, radius=self.radius, pool=laws)

    @abstractmethod
    def match(self, belief: Belief, X: Any, candidates: Indices | None, laws: Pool) -> Match:
        """Every candidate beside the target: what its score is made of (None: all of X)."""

    def pool_scores(self, belief: Belief, X: Any, laws: Pool, *, rng: Seed = None) -> Array:
        _require_same_units(belief)
        return self.match(belief, X, None, laws).scores

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        _require_same_units(belief)
        laws = candidate_laws(belief, X, candidates)
        found = self.match(belief, X, candidates, laws)
        return Rating(self._checked(found.values, len(laws)), laws, -found.constant)

    def seen(self, belief: Belief, X: Any, candidates: Indices, laws: Pool, rating: Rating) -> Seen:
        found = self.match(belief, X, candidates, laws)
        return Seen(
            found.channel,
            found.laws,
            {"exploitation": -found.exploitation, "exploration": -found.exploration},
            through=as_choice(getattr(self, "channel", None)).describe(belief),
            budget=repr(self.power),
            power=found.power,
            solver=self.solver,
            by_target=found.by_target,
        )


def _require_same_units(belief: Belief) -> None:
    """Refuse inputs whose coordinates cannot be added: no power and no distance compares them."""
    reason = getattr(belief.channel, "not_comparable", None)
    if reason is not None:
        raise InvalidArgument("channel", reason, belief.channel)
    if not belief.channel.same_units:
        rule = (
            "must have an input whose coordinates have the same units: E|L|^2 and W2 add their "
            "squares (a lapse rate to an input of other units), so the scores would depend on the "
            "units chosen; InformationGain() does not"
        )
        raise InvalidArgument("channel", rule, belief.channel)


@dataclass(frozen=True)
class APM(Matching):
    """Score by the distance to the capacity-achieving input: `-W2^2(p_L, p*_L)`, eq. (APM).

    p_L is the induced law of a candidate's channel input and p*_L the optimal input of the channel
    at the budget P. For logistic regression with a Gaussian posterior this is eq. (APM-LR),
    `-(mu^2 + (sigma - sqrt(2P/pi))^2)`, less the constant `(1 - 2/pi) P` (Corollary 3.2.1).

    >>> from apm import Belief, FixedPower, VariationalLogistic
    >>> belief = Belief(VariationalLogistic(prior_precision=1.0))
    >>> APM(FixedPower(1.0)).scores(belief, [[0.0], [0.8], [5.0]]).round(3)
    array([ -1.   ,  -0.363, -18.021])

    Three independent choices make the family:

    - `channel`: None or `AllClasses()` is the belief's own; `ContestedPair()` the logistic channel
      between the two likeliest classes; or any channel with the same input;
    - `message`: `Parameters()` (the paper), or `Predictions()` at target inputs;
    - `power`: the budget of the target, in the units of that channel's input.

    `charged=False` scores by an upper bound on W2^2 that does not charge a candidate for the
    variance s^2 of its signal: `-|m - m_T|^2 + 2 rho` less a constant, without the term `-s^2`.
    It is a bound for every candidate whose signal is within the budget, as with `SignalPower()`.
    """

    channel: Any = field(default=None, kw_only=True)
    message: Message = field(default_factory=Parameters, kw_only=True)
    charged: bool = field(default=True, kw_only=True)
    by_row = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.channel)
        if not isinstance(self.message, Message):
            rule = "must be a message such as Parameters() or Predictions()"
            raise InvalidArgument("message", rule, self.message)

    def prepared(self, belief: Belief, X: ArrayLike) -> Self:
        """This selector with B, and the targets of its message, fixed by the initial pool X."""
        classes = belief.channel.num_outputs
        if self.channel is None and self.message == Parameters() and belief.channel.dim > 2:
            warn_caller(ALL_CLASSES.format(classes))
        ready = super().prepared(belief, X)
        return replace(ready, message=ready.message.prepared(belief, X))

    def needs_all_rows(self, belief: Belief) -> str | None:
        return super().needs_all_rows(belief) or self.message.needs_all_rows(self.channel, belief)

    def surveyed(self, belief: Belief, X: Any, is_open: Any, rng: int) -> Self:
        ready = self.looking(belief, X)
        if not self.power.over_pool:
            return ready
        from apm.selectors.tiled import open_tiles

        amounts = []
        for _, tile, places in open_tiles(X, is_open):
            look = ready.look(belief, tile, places)
            if look is None:
                laws = candidate_laws(belief, tile, places)
                amounts.append(ready.tile_budget(belief, tile, places, laws))
            else:
                amounts.append(look.budget(ready, belief, tile))
        return ready.at(self.power.joined(amounts))

    def looking(self, belief: Belief, X: Any) -> Self:
        """This selector with all fixed that the parts of X share but the budget."""
        ready = replace(self, message=self.message.surveyed(self.channel, belief, X))
        return super(APM, ready).prepared(belief, X)

    def at(self, power: float) -> Self:
        """This selector with the budget fixed."""
        return replace(self, power=FixedPower(power))

    def look(self, belief: Belief, X: Any, candidates: Indices) -> Look | None:
        """What the scores of these rows need of them, whatever the budget; None if unknown."""
        _require_same_units(belief)
        return self.message.look(self, belief, X, candidates)

    @property
    def draws_lines(self) -> bool:
        """Whether laws and shares are all that looks at rows keep, so that they can be joined."""
        message = self.message
        return type(message) is Parameters or getattr(message, "form", None) is not None

    def look_again(
        self, belief: Belief, X: Any, mean: Array, variance: Array, share: Array
    ) -> Look:
        """The look at rows that were looked at before, by what was kept of them."""
        laws = held(mean, variance)
        view = self.view(belief, laws)
        if type(self.message) is Parameters:
            return Look(laws, view)
        effective = self.message.effective(self.channel, belief, X, None, view)  # type: ignore[attr-defined]
        return Look(laws, replace(effective, known=share))

    def rated(self, look: Look, power: float) -> Rating:
        """The scores of candidates that were looked at."""
        found = look.match(self, power)
        return Rating(self._checked(found.values, len(look.laws)), look.laws, -found.constant)

    def _rate(self, belief: Belief, X: Any, candidates: Indices, rng: Seed) -> Rating:
        look = self.look(belief, X, candidates)
        if look is None:
            return super()._rate(belief, X, candidates, rng)
        return self.rated(look, look.budget(self, belief, X))

    def tile_budget(self, belief: Belief, X: Any, candidates: Indices, laws: Pool) -> float:
        return self.message.budget(self, belief, X, candidates, self.view(belief, laws))

    def view(self, belief: Belief, laws: Pool) -> View:
        """The channel that this selector looks through, and the laws of its input."""
        return as_choice(self.channel).view(belief, laws)

    def match(self, belief: Belief, X: Any, candidates: Indices | None, laws: Pool) -> Match:
        return self.message.match(self, belief, X, candidates, self.view(belief, laws))

    def seen(self, belief: Belief, X: Any, candidates: Indices, laws: Pool, rating: Rating) -> Seen:
        seen = super().seen(belief, X, candidates, laws, rating)
        through = seen.through + self.message.noise
        return replace(seen, message=self.message.describe(len(X)), through=through)
