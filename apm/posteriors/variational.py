"""The variational posterior of logistic regression (Jaakkola and Jordan, 2000)."""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np

from apm.posteriors.base import Posterior, PriorOptions
from apm.posteriors.covariances.feature_covariance import FeatureCovariance
from apm.posteriors.evidence import MaximumEvidence, WithEvidence
from apm.posteriors.fitting.fixed_point import climb_from, solve
from apm.posteriors.gaussian import MANY_FEATURES, ScalarGaussian, span_of
from channelcode._validation import Array, positive, read_only
from channelcode.channels import Logistic
from channelcode.errors import NotConverged

CHANNEL = Logistic()
MAX_STEPS = 200
MAP_STEPS = 1000  # on separable data a step of Newton gains one unit of the logit, up to 600
MAP_TOL = 1e-8  # the last Newton step, relative to the largest weight


class Solution(NamedTuple):
    """The fixed point: what the next one starts from, and what the moments are made of."""

    mean: Array
    factor: Any
    squares: Array
    evidence_bound: float
    steps: int
    change: float
    map_start: Array
    coordinates: Array | None = None


class VariationalLogistic(ScalarGaussian, WithEvidence):
    """The Gaussian that maximises the Jaakkola-Jordan bound on the evidence (paper, Algorithm 1).

        xi_i^2 = x_i'(Sigma + mu mu')x_i,     Sigma^-1 = lambda I + 2 sum_i lam(xi_i) x_i x_i',
        mu = Sigma sum_i (y_i - 1/2) x_i,     lam(xi) = tanh(xi / 2) / (4 xi).

    Solved by Newton on ln xi^2 with plain EM as the safeguard, so the bound never falls; with fewer
    labels than features, in the span of the examples. The last step in ln xi^2 is below `tol`, or
    below what rounding allows (features in the thousands with a weak prior). Labels may be any two
    values; `classes` names them when the first labels may all be the same.

    >>> posterior = VariationalLogistic(prior_precision=1.0).fit([[1.0], [-1.0]], ["yes", "no"])
    >>> posterior.classes_.tolist(), posterior.mean.round(6).tolist()
    (['no', 'yes'], [0.686454])
    """

    __slots__ = ("_tol",)
    _tol: float

    def __init__(
        self,
        prior_precision: float | MaximumEvidence = 0.01,
        *,
        tol: float = 1e-10,
        **options: Unpack[PriorOptions],
    ) -> None:
        self._set(_tol=positive("tol", tol))
        super().__init__(prior_precision, **options)

    @property
    def num_labels(self) -> int:
        return 2

    @property
    def channel(self) -> Any:
        return CHANNEL

    @property
    def tol(self) -> float:
        """The longest last step in ln xi^2."""
        return self._tol

    @property
    def mean(self) -> Array:
        """mu, `(q,)`."""
        return self._solved().mean

    @property
    def _root(self) -> Array | FeatureCovariance:
        return self._solved().factor

    @property
    def xi(self) -> Array:
        """The variational parameters xi_i >= 0, `(n,)`."""
        return np.sqrt(self._solved().squares)

    @property
    def evidence_bound(self) -> float:
        """The lower bound on ln p(y | X), in nats; zero for the prior."""
        return self._solved().evidence_bound

    @property
    def log_evidence(self) -> float:
        """The same bound: what `MaximumEvidence` compares."""
        return self._solved().evidence_bound

    @property
    def steps(self) -> int:
        """How many times the fixed-point map was evaluated for the last fit or update."""
        return self._solved().steps

    @property
    def map(self) -> Array:
        """The most probable weights (eq. LR-MAP), `(q,)`; computed at the first call."""
        if "map" not in self._cache:
            from apm._kernels.logistic_map import fit

            signs, held = 2.0 * self._codes - 1.0, self._solved()
            rows: Any = self._known_design()
            precision, start = self._precision, held.map_start
            if isinstance(held.factor, FeatureCovariance):  # as it is, in the span
                rows = held.coordinates
                precision = np.ones(rows.shape[1])
                start = held.factor.whitened(start)
            weights, _, change = fit(
                np.ascontiguousarray(rows),
                precision,
                signs,
                self._weights,
                np.array(start),
                MAP_STEPS,
            )
            if isinstance(held.factor, FeatureCovariance):
                weights = held.factor.lifted(weights)
            if not change <= MAP_TOL:
                raise NotConverged("Newton for the MAP weights did not converge", weights)
            weights.setflags(write=False)
            self._cache["map"] = weights
        return self._cache["map"]

    def _solved(self) -> Solution:
        self._known_design()
        return self._solution

    def _solve(self, start: Posterior | None, fresh: int) -> Solution:
        design = self._known_design()
        if len(self._precision) >= MANY_FEATURES:
            return self._checked(self._solve_wide(start, fresh))
        squares = np.empty(len(design))
        known, share = 0, 0.5  # a new example settles near half its variance
        if isinstance(start, VariationalLogistic):
            held: Solution = start._solution
            mean, factor = held.mean, held.factor
            known = len(design) - fresh
            squares[:known] = held.squares[:known]
            map_start = start._cache.get("map", held.map_start)
            if known == 0 and len(held.squares):
                share = 1.0  # refitted to like data, an example keeps its second moment
        else:
            mean = map_start = np.zeros(design.shape[1])
            factor = np.diag(1.0 / np.sqrt(self._precision))
        found = solve(
            design,
            self._precision,
            codes=self._codes,
            weights=self._weights,
            squares=squares,
            known=known,
            mean=np.array(mean),  # may be written to, as in the compiled loop: one signature
            factor=np.array(factor),
            share=share,
            tol=self._tol,
            max_steps=MAX_STEPS,
        )
        mean, factor, bound, steps, change = found
        for array in (mean, factor, squares):
            array.setflags(write=False)
        return self._checked(Solution(mean, factor, squares, bound, steps, change, map_start))

    def _solve_wide(self, start: Posterior | None, fresh: int) -> Solution:
        """As `_solve` in the span of the examples, which grows by the new ones."""
        design, n = self._known_design(), len(self._codes)
        held = start._solution if isinstance(start, VariationalLogistic) else None
        same = held is not None and np.array_equal(start._precision, self._precision)  # type: ignore[union-attr]
        features, Z, known = span_of(self, start if same else None, held, fresh)
        if held is not None and not same and len(held.squares) + fresh == n:
            known = n - fresh  # another prior: what was known of the examples still holds
        squares = np.empty(n)
        prior = FeatureCovariance.prior(self._precision)
        before = prior if held is None else held.factor
        squares[:known] = [] if held is None else held.squares[:known]
        new = design[known:]
        share = 1.0 if held is not None and known == 0 and len(held.squares) else 0.5
        centre = np.zeros(n - known) if held is None else new @ held.mean
        squares[known:] = share * before.quadratic(new) + centre**2
        half = self._weights * (self._codes - 0.5)
        U, shift, bound, steps, change = climb_from(
            Z, half, self._weights, squares, self._tol, MAX_STEPS
        )
        factor: Any = np.linalg.inv(np.triu(U))
        mean = features.lifted(factor @ shift)
        idle = self._weights == 0.0
        covariance = features.with_factor(factor)
        squares[idle] = covariance.quadratic(design[idle]) + (design[idle] @ mean) ** 2
        map_start = np.zeros_like(mean)
        if isinstance(start, VariationalLogistic) and held is not None:
            map_start = start._cache.get("map", held.map_start)
        for array in (mean, squares, Z):
            array.setflags(write=False)
        return Solution(mean, covariance, squares, bound, steps, change, map_start, Z)

    def _checked(self, solution: Solution) -> Solution:
        if not solution.change <= self._tol:
            raise NotConverged(
                f"the variational fixed point moved by {solution.change:.1e} after "
                f"{solution.steps} steps: raise prior_precision or tol, or scale the features",
                self._evolve(_solution=solution),
            )
        return solution

    def _solution_state(self) -> dict[str, np.ndarray]:
        held = self._solved()
        start = self._cache.get("map", held.map_start)
        if isinstance(held.factor, FeatureCovariance):
            parts = held._asdict() | held.factor.arrays()
        else:
            parts = {name: value for name, value in held._asdict().items() if value is not None}
        state = {name: np.asarray(value) for name, value in parts.items()}
        return state | {"map_start": start, "has_map": np.array("map" in self._cache)}

    def _restore_solution(self, state: dict[str, np.ndarray]) -> Solution:
        if bool(state["has_map"]):
            self._cache["map"] = read_only(state["map_start"])
        names = ("mean", "factor", "squares", "map_start")
        mean, factor, squares, map_start = (read_only(state[name]) for name in names)
        factor: Any
        coordinates: Any = None
        if "basis" in state or "deviation" in state:
            factor = FeatureCovariance.from_arrays(state)
            coordinates = read_only(state["coordinates"])
        bound, change, steps = (float(state[n]) for n in ("evidence_bound", "change", "steps"))
        count = int(steps)
        return Solution(mean, factor, squares, bound, count, change, map_start, coordinates)

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | {"tol": np.array(self._tol)}

    @classmethod
    def _options(cls, state: dict[str, np.ndarray], channel: Any) -> dict[str, Any]:
        return super()._options(state, channel) | {"tol": float(state["tol"])}
