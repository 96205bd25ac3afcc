from __future__ import annotations

import numpy as np

from channelcode._kernels.feedback_enumerate import enumerate_tree
from tests.kernel_checks import assert_matches_py_func


def test_tree_matches_python():
    matrix = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    letters = np.tile(np.array([0, 1]), (4, 1))
    assert_matches_py_func(enumerate_tree, matrix, letters, np.full((4, 1), 0.4), 4, 3, rtol=1e-10)
