"""Check a compiled kernel against the same function run as Python."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def assert_matches_py_func(kernel: Any, *args: Any, rtol: float = 1e-12, atol: float = 0.0) -> Any:
    """Call `kernel` compiled and as Python on equal arguments; compare results and arguments after.

    The default tolerance allows for the last bits, in which compiled and interpreted library
    functions may differ; integers and booleans must be equal. Arguments are copied for each call,
    so a kernel that writes into an array is compared on what it wrote. Returns the compiled result.
    """
    compiled_args, python_args = copy.deepcopy(args), copy.deepcopy(args)
    compiled = kernel(*compiled_args)
    with np.errstate(all="ignore"):  # compiled code raises no floating-point warnings either
        python = kernel.py_func(*python_args)
    _compare(compiled, python, "result", rtol, atol)
    for index, (left, right) in enumerate(zip(compiled_args, python_args, strict=True)):
        if isinstance(left, np.ndarray):
            _compare(left, right, f"argument {index} after the call", rtol, atol)
    return compiled


def _compare(compiled: Any, python: Any, where: str, rtol: float, atol: float) -> None:
    if isinstance(python, tuple):
        assert isinstance(compiled, tuple), f"{where}: compiled gave {type(compiled).__name__}"
        assert len(compiled) == len(python), f"{where}: {len(compiled)} items, not {len(python)}"
        for index, (left, right) in enumerate(zip(compiled, python, strict=True)):
            _compare(left, right, f"{where}[{index}]", rtol, atol)
        return
    if python is None or compiled is None:
        assert compiled is python, f"{where}: {compiled!r} against {python!r}"
        return
    left, right = np.asarray(compiled), np.asarray(python)
    assert left.shape == right.shape, f"{where}: shape {left.shape} against {right.shape}"
    if right.dtype.kind in "iub" and left.dtype.kind in "iub":
        np.testing.assert_array_equal(left, right, err_msg=where)
    else:
        np.testing.assert_allclose(left, right, rtol=rtol, atol=atol, err_msg=where)
