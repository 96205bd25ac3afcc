"""Names of test cases that are the same in every process."""

from __future__ import annotations

import re


def plain(value: object) -> str:
    """The value's repr without addresses: `pytest.mark.parametrize(..., ids=plain)`.

    >>> plain([len, object()])
    '[<built-in function len>, <object object>]'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
