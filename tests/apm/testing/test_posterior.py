"""The contract of a posterior: the library's own pass, each mistake is named."""

from __future__ import annotations

import numpy as np
import pytest

from apm import Bohning, Laplace, Sampled, VariationalLogistic
from apm.testing import check_posterior
from channelcode import Logistic, Ordinal, Softmax


@pytest.mark.parametrize(
    "posterior",
    [
        VariationalLogistic(0.1),
        Laplace(Ordinal([-0.5, 1.0]), 0.2),
        Laplace(Softmax(3), 0.2, intercept=True),
        Bohning(3, 0.2),
    ],
    ids=repr,
)
def test_the_librarys_own_pass(posterior):
    check_posterior(posterior)


def test_draws_pass_without_the_exact_part():
    check_posterior(Sampled(Logistic(), 0.1, samples=20, burn_in=5), exact=False)


def test_examples_of_your_own():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5]])
    check_posterior(VariationalLogistic(0.1), X, ["no", "yes", "no", "yes"])


class Deaf(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        new = super().update(x, y, sample_weight)
        start = VariationalLogistic(0.1).sized(3)
        new._set(_solution=start._solution)
        return new


class InPlace(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        new = super().update(x, y, sample_weight)
        for name in ("_design", "_codes", "_weights", "_solution", "_num_features", "_classes"):
            self._set(**{name: getattr(new, name)})
        self._set(_lookup=new._lookup, _precision=new._precision)
        return new


class Itself(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        return self


class Backwards(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        labels = np.atleast_1d(y)
        return super().update(x, 1 - labels, sample_weight)


class LastOnly(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        held = self if self.num_observations == 0 else type(self)(0.1)
        new = VariationalLogistic.update(held, x, y, sample_weight)
        return new


class Nothing(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        super().update(x, y, sample_weight)


class NegativeVariance(VariationalLogistic):
    __slots__ = ()

    def project(self, features):
        mean, variance = super().project(features)
        return mean, np.full_like(variance, np.nan) if len(features) > 5 else variance


class BatchBound(VariationalLogistic):
    __slots__ = ()

    def project(self, features):
        mean, variance = super().project(features)
        return mean - mean.mean(), variance


class Pickled(VariationalLogistic):
    __slots__ = ()

    def state(self):
        return {**super().state(), "extra": np.array([object()])}


class Amnesiac(VariationalLogistic):
    __slots__ = ()

    @classmethod
    def from_state(cls, state, channel=None):
        return cls(0.1).sized(3)


class Generous(VariationalLogistic):
    __slots__ = ()

    def update(self, x, y, sample_weight=None):
        return super().update(np.nan_to_num(np.asarray(x, dtype=float)), y, sample_weight)


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        (Deaf, "changed nothing"),
        (InPlace, "changed in place|grow by"),
        (Itself, "must return a new posterior"),
        (Backwards, "not up"),
        (LastOnly, "one by one"),
        (Nothing, "must return a posterior, not NoneType"),
        (NegativeVariance, "raised InvalidArgument|finite"),
        (BatchBound, "must not depend on the other candidates"),
        (Pickled, "plain arrays"),
        (Amnesiac, "exactly where it stopped"),
        (Generous, "NaN in X must raise"),
    ],
)
def test_each_mistake_is_named(posterior, message):
    with pytest.raises(AssertionError, match=message):
        check_posterior(posterior(0.1))


@pytest.mark.parametrize("thing", [VariationalLogistic, None, 3])
def test_only_posteriors_are_checked(thing):
    with pytest.raises(AssertionError, match="must be an instance"):
        check_posterior(thing)
