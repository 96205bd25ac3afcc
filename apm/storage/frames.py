"""Tables for pandas, which is loaded only when one is asked for."""

from __future__ import annotations

from typing import Any

from channelcode.errors import MissingExtra


def frame(data: Any, columns: list[str] | None = None) -> Any:
    """A pandas DataFrame of columns by name, or of rows; needs pandas (extra `frame`).

    >>> frame({"labels": [1, 2]}).shape
    (2, 1)
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", "frame") from None
    return pd.DataFrame(data, columns=None if columns is None else pd.Index(columns))
