"""Rows that know whom to ask."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from apm.encoders.experts import Chosen, Expert
from apm.experts.pairs import Pairs, pair_rows
from apm.rounds import Rows
from channelcode import Logistic


def test_pairs_are_rows_with_names():
    pairs = Pairs.of([4, 7, 4], ["a", "b", "b"])
    assert isinstance(pairs, Rows)
    assert pairs.pairs() == [(4, "a"), (7, "b"), (4, "b")]
    assert int(pairs[1:2]) == 7
    with pytest.raises(TypeError, match="not one integer"):
        int(pairs)
    for part in (slice(None, None, -1), [2, 0], np.array([True, False, True])):
        assert pairs[part].pairs() == [
            (int(row), str(name))
            for row, name in zip(np.array([4, 7, 4])[part], np.array(["a", "b", "b"])[part])
        ]
    later: Any = pairs + 1
    assert later.experts == ()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
                         ids=["copied", "pickled"])  # fmt: skip
def test_a_copy_knows_the_names(again):
    pairs = Pairs.of([4, 7], ["a", "b"])
    assert again(pairs).pairs() == pairs.pairs()


def test_rows_of_pairs():
    channel = Chosen((Expert(Logistic(), 1, "a"), Expert(Logistic(), 2, "b")))
    found = pair_rows(np.array([[5.0, 6.0], [7.0, 8.0]]), channel)
    assert found.tolist() == [[5, 6, 0], [5, 6, 1], [7, 8, 0], [7, 8, 1]]
