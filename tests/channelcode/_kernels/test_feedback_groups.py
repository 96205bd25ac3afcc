from __future__ import annotations

import numpy as np
import pytest

from channelcode._kernels.feedback_groups import simulate_groups
from tests.kernel_checks import assert_matches_py_func


@pytest.mark.parametrize("rule", [0, 1])
def test_runs_match_python(rule):
    counts = np.array([1.0, 4.0, 6.0, 4.0, 1.0])
    law = np.cumsum(counts * 0.1 ** np.arange(5) * 0.9 ** np.arange(4, -1, -1))
    powers = (1 / 9.0) ** np.arange(64)
    seeds = np.arange(1, 6, dtype=np.uint64) * np.uint64(977)
    uses, _, _ = simulate_groups(counts, law, powers, 0.1, 1e-3, 4, rule, seeds, 60)
    assert (uses >= 4).all()
    with np.errstate(over="ignore"):  # 64-bit words wrap around
        assert_matches_py_func(simulate_groups, counts, law, powers, 0.1, 1e-3, 4, rule, seeds, 60)


def test_a_run_that_does_not_end_says_so():
    seeds = np.ones(1, dtype=np.uint64)
    powers = (0.45 / 0.55) ** np.arange(8.0)
    uses, _, _ = simulate_groups(np.array([2.0]), np.ones(1), powers, 0.45, 1e-9, 0, 0, seeds, 1000)
    assert uses.tolist() == [-1]
