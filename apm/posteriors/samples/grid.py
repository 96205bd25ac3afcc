"""The exact posterior of a few parameters on a product grid."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from apm.encoders import Encoder
from apm.posteriors.base import Posterior
from apm.posteriors.samples.axes import as_axes, edge, grid_points, log_cells, spacing
from apm.posteriors.samples.priors import is_density, log_density, log_masses
from apm.posteriors.samples.weighted import WeightedSamples, log_sum, weighted_sum
from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array, read_only
from channelcode.channels import Channel
from channelcode.errors import InvalidArgument, warn_caller

COARSE = 0.7  # deviations over spacing; below it the evidence is off by 2e-4 and soon useless
SMALL = 1e-3  # mass on the edge cells, as much of which may lie beyond


class Nats(float):
    """An entropy: a number of nats, with `.nats` and `.bits`."""

    __slots__ = ()

    @property
    def nats(self) -> float:
        """The value in nats."""
        return float(self)

    @property
    def bits(self) -> float:
        """The value in bits."""
        return float(self) / LOG_TWO


class Solution(NamedTuple):
    """ln p(theta, labels) at every point, `(s,)`."""

    log_joint: Array


class Kept(NamedTuple):
    """A prior as a file keeps it: the logarithms of the masses, and whether they are a density."""

    log_masses: Array
    density: bool


class Grid(WeightedSamples):
    """The posterior on the product of `axes`, one array of values for each parameter; exact.

        ln w_g = ln prior(theta_g) + ln cell_g + sum_i ln p(y_i | h(theta_g, x_i)) - ln Z

    - `axes`: q arrays; the points theta `(s, q)` run through their product, the last axis fastest;
    - `prior`: masses of the points, `(s,)` or one axis for each parameter (None: all alike), which
      make the grid itself the model, as QUEST+ does. Or a density: a `Gaussian`, an object with
      `log_density(theta)` or `logpdf(theta)`, a function; then the grid is a trapezoid rule, and a
      warning says when it is too coarse (`resolution`) or too small (`edge_mass`).

    The probabilities of a pool's labels are computed once and kept, so that information gain is
    two products for each label. The sums are taken in logarithms: labels without number do not
    underflow.

    >>> import numpy as np
    >>> from apm import Belief, NonLinear
    >>> from channelcode import Logistic
    >>> line = NonLinear(lambda theta, X: np.exp(theta[:, 1]) * (X - theta[:, 0]), 2)
    >>> grid = Grid([np.linspace(-3, 3, 13), [0.0, 1.0]], Logistic(), line)
    >>> belief = Belief(grid).update([0.5], 1).update([-1.0], 0)
    >>> belief.posterior.marginal(1).round(3), belief.information_gain([[0.0], [2.0]]).round(3)
    (array([0.537, 0.463]), array([0.289, 0.156]))
    """

    __slots__ = ("_axes", "_density", "_log_prior", "_points", "_supported", "_warned")
    _axes: tuple[Array, ...]
    _density: bool
    _log_prior: Array
    _points: Array
    _supported: Array
    _warned: bool

    def __init__(
        self,
        axes: Any,
        channel: Channel,
        encoder: Encoder | None = None,
        prior: Any = None,
        *,
        classes: ArrayLike | None = None,
    ) -> None:
        values = as_axes(axes, encoder)
        points = grid_points(values)
        if isinstance(prior, Kept):
            density, logs = prior.density, prior.log_masses
        elif is_density(prior):
            density, logs = True, log_density(prior, points) + log_cells(values)
        else:
            density, logs = False, log_masses(prior, tuple(len(axis) for axis in values))
        if not (logs > -np.inf).any():
            raise InvalidArgument("prior", "must have mass at some point of the grid", prior)
        inside = logs > -np.inf
        self._set(
            _axes=values,
            _points=points,
            _supported=points if inside.all() else read_only(points[inside]),
            _log_prior=read_only(logs),
            _density=density,
            _warned=False,
        )
        super().__init__(channel, encoder, classes=classes)

    # What is believed -------------------------------------------------------------------------

    @property
    def axes(self) -> tuple[Array, ...]:
        """The values of each parameter."""
        return self._axes

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each parameter."""
        return tuple(len(axis) for axis in self._axes)

    @property
    def theta(self) -> Array:
        """The points, `(s, q)`, the last parameter running fastest."""
        return self._points

    @property
    def log_weights(self) -> Array:
        return self._log_prior if self._solution is None else self._solution.log_joint

    @property
    def log_evidence(self) -> float:
        """ln p(labels), in nats: a sum over masses, an integral for a density."""
        return log_sum(self.log_weights)

    @property
    def map(self) -> Array:
        """The most probable point, `(q,)`; for a density the point where it is highest."""
        logs = self.log_weights - log_cells(self._axes) if self._density else self.log_weights
        return np.array(self._points[int(np.argmax(logs))])

    def marginal(self, parameter: int) -> Array:
        """The masses of one parameter's values, as long as its axis."""
        place = self._parameter(parameter)
        others = tuple(axis for axis in range(len(self._axes)) if axis != place)
        return self.weights.reshape(self.shape).sum(axis=others)

    @property
    def entropy(self) -> Nats:
        """-sum_g w_g ln w_g of the masses, in nats (`.bits` for bits)."""
        used = self.weights[self.weights > 0]
        return Nats(-(used @ np.log(used)))

    @property
    def edge_mass(self) -> float:
        """The mass of the points at an end of some axis; what lies beyond is of that size."""
        return float(self.weights.reshape(self.shape)[edge(self._axes)].sum())

    @property
    def resolution(self) -> float:
        """The least deviation of a parameter in units of the spacing of its axis.

        For a smooth density 2 gives the evidence to 1e-11, 1 to 2e-5 and 0.7 to 2e-4; less is
        too coarse. Axes of one value do not count.
        """
        least = np.inf
        for place, axis in enumerate(self._axes):
            if len(axis) > 1:
                masses = self.marginal(place)
                unit = float(np.abs(axis).max())
                centred = (axis - masses @ axis) / unit
                deviation = unit * float(np.sqrt(masses @ np.square(centred)))
                least = min(least, deviation / float(masses @ spacing(axis)))
        return least

    # How a label changes it -------------------------------------------------------------------

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        n = len(self._codes)
        known = start is not None and start.num_observations == n - fresh
        new = slice(n - fresh if known else 0, n)
        logs = np.array(start.log_weights if known else self._log_prior)  # type: ignore[union-attr]
        told = self._known_design()[new], self._codes[new], self._weights[new]
        table = self._table()
        places = None if table is None else table.rows_of(told[0])
        if table is not None and places is not None:
            found = weighted_sum(table.logs[places], *told[1:])
        else:
            found = self.log_likelihood(self._supported, *told)
        # the encoder is not asked about points without mass
        logs[slice(None) if len(found) == len(logs) else self._log_prior > -np.inf] += found
        if logs.max() == -np.inf:
            rule = "must be possible: under every parameter value that has mass the labels are not"
            raise InvalidArgument("y", rule, self.classes_[self._codes[new]].tolist())
        logs.setflags(write=False)
        return Solution(logs)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        return super().fit(X, y, sample_weight)._looked_at()

    def update(self, x: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        return super().update(x, y, sample_weight)._looked_at()

    def _looked_at(self) -> Self:
        """This posterior, after a warning if its density has outgrown the grid; once is enough."""
        if not self._density or self._warned:
            return self
        resolution, outside = self.resolution, self.edge_mass
        told = []
        if resolution < COARSE:
            told.append(f"too coarse: a deviation is {resolution:.2g} of its spacing")
        if outside > SMALL:
            told.append(f"too small: the points at its ends have mass {outside:.2g}")
        if told:
            warn_caller(f"the grid is {' and '.join(told)}")
            self._set(_warned=True)
        return self

    def _supported_theta(self) -> Array:
        return self._supported

    def _supported_weights(self) -> Array:
        if self._supported is self._points:
            return self.weights
        return self.weights[self._log_prior > -np.inf]

    def gain(self, X: Any, about: Any = None) -> Array:
        """I(theta; Y) of every row of X `(n, d)` in nats, `(n,)`.

        With `about`, a list of parameters, the information about those alone: what a label tells
        of the others counts as noise.
        """
        if about is None:
            return super().gain(X)
        chosen = tuple(sorted({self._parameter(place) for place in about}))
        weights, inside = self.weights, np.flatnonzero(self._log_prior > -np.inf)
        tables = self._label_tables(X)
        pieces = [table.gain_about(weights, inside, self.shape, chosen) for table in tables]
        return np.concatenate(pieces)

    def _parameter(self, place: Any) -> int:
        count = len(self._axes)
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise InvalidArgument("parameter", f"must be in 0..{count - 1}", place)
        if not 0 <= place < count:
            raise InvalidArgument("parameter", f"must be in 0..{count - 1}", place)
        return int(place)

    # Saving -----------------------------------------------------------------------------------

    def _solution_state(self) -> dict[str, np.ndarray]:
        return {"log_joint": self._solution.log_joint}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        return Solution(read_only(state["log_joint"]))

    def state(self) -> dict[str, np.ndarray]:
        axes = {f"axis{place}": axis for place, axis in enumerate(self._axes)}
        own = {"log_prior": self._log_prior, "density": np.array(self._density)}
        return super().state() | axes | own

    @classmethod
    def _options(
        cls, state: dict[str, np.ndarray], channel: Any, encoder: Any = None
    ) -> dict[str, Any]:
        count = sum(name.startswith("axis") for name in state)
        logs = np.array(state["log_prior"], dtype=np.float64)
        return {
            "axes": [state[f"axis{place}"] for place in range(count)],
            "channel": channel,
            "encoder": encoder,
            "prior": Kept(logs, bool(state["density"])),
            "classes": state.get("given"),
        }
