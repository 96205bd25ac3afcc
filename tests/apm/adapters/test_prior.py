"""What an adapter starts from."""

from __future__ import annotations

import numpy as np
import pytest

from apm import Bohning, Laplace, VariationalLogistic
from apm.adapters.prior import prior_for
from channelcode import InvalidArgument, Probit

OPTIONS = {"prior_precision": 0.5, "intercept": True}


@pytest.mark.parametrize("classes, kind", [(["a", "b"], VariationalLogistic), ([1, 2, 7], Bohning)])
def test_the_number_of_classes_decides(classes, kind):
    prior = prior_for(np.array(classes), None, **OPTIONS)
    assert isinstance(prior, kind)
    assert prior.prior_precision == 0.5
    assert prior.intercept
    assert prior.classes_.tolist() == list(range(len(classes)))


def test_a_posterior_or_its_maker():
    given = Laplace(Probit())
    assert prior_for(np.array([0, 1]), given, **OPTIONS) is given
    made = prior_for(np.arange(4), lambda count: Bohning(count, prior_precision=2.0), **OPTIONS)
    assert (made.num_labels, made.prior_precision) == (4, 2.0)


@pytest.mark.parametrize(
    "classes, given, message",
    [
        ([0], None, "at least 2 classes"),
        ([0, 1, 2], Laplace(Probit()), "Only binary classification"),
        ([0, 1], Bohning(3), "takes 3 classes: y has 2 classes"),
        ([0, 1], str, "must be a posterior"),
    ],
)
def test_what_does_not_fit_is_refused(classes, given, message):
    with pytest.raises((ValueError, InvalidArgument), match=message):
        prior_for(np.array(classes), given, **OPTIONS)
