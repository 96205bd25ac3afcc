"""Other libraries' interfaces to posteriors and selectors.

- `APMClassifier`: a scikit-learn classifier over any posterior of `apm`.

Imported when it is first used, so that scikit-learn is loaded only where it is wanted.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apm.adapters.sklearn import APMClassifier

_HOMES = {"APMClassifier": "apm.adapters.sklearn"}

__all__ = ["APMClassifier"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
