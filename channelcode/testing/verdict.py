"""How a check speaks: what was tried, what came out, and what to mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from channelcode._validation import Array
from channelcode.errors import VECTORISE, is_scalar_code


def fail(member: object, problem: str) -> NoReturn:
    """Raise AssertionError (also under `python -O`) that names the member and what is wrong."""
    raise AssertionError(f"{_shown(member)}: {problem}")


def attempt(member: object, what: str, call: Callable[[], Any]) -> Any:
    """The value of `call`, or a failure that says what was asked of the member and what it raised.

    Errors that come of scalar code on arrays get the advice they need.
    """
    try:
        return call()
    except AssertionError:
        raise
    except Exception as error:
        advice = ""
        text = str(error)
        if is_scalar_code(error) and VECTORISE not in text:
            advice = f" (it is not vectorised: {VECTORISE})"
        fail(member, f"{what} raised {type(error).__name__}: {text}{advice}")


def expect_refusal(member: object, what: str, call: Callable[[], Any]) -> None:
    """Fail unless `call` raises a ValueError, as every error of bad input here is."""
    try:
        call()
    except ValueError:
        return
    except Exception as error:
        fail(member, f"{what} must raise a ValueError, not {error!r}")
    fail(member, f"{what} must raise a ValueError")


def where(inputs: Array, wrong: Any) -> str:
    """The plainest input that is wrong, with the range of all of them: " at l = 1.5 (...)".

    `inputs (m,)` or `(m, dim)`, `wrong (m,)` of bool.
    """
    bad = inputs[np.asarray(wrong, dtype=bool)]
    sizes = np.abs(bad) if bad.ndim == 1 else np.linalg.norm(bad, axis=1)
    first = bad[int(np.argmin(np.abs(np.log10(np.maximum(sizes, 1e-300)))))]  # nearest to size one
    text = f"at l = {first.tolist()}"
    if bad.ndim == 1 and len(bad) > 1:
        text += (
            f" (and {len(bad) - 1} more of {len(inputs)}, from {bad.min():.6g} to {bad.max():.6g})"
        )
    return text


def _shown(member: object) -> str:
    try:
        return repr(member)
    except Exception as error:  # a broken repr must not hide the fault that is being reported
        return f"{type(member).__name__} (whose repr raised {type(error).__name__})"
