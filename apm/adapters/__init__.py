"""Other libraries' interfaces to posteriors and selectors.

- `APMClassifier`: a scikit-learn classifier over any posterior of `apm`;
- `APMActiveClassifier`: the same with scikit-activeml's missing labels and costs;
- `APMQueryStrategy`: any selector as a query strategy of scikit-activeml;
- `Committee`: classifiers of scikit-learn as the model of a `Learner`;
- `modal_query`: any selector as a query function of modAL.

Each is imported when it is first used, so that the library behind it is loaded only then.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apm.adapters.committee import Committee
    from apm.adapters.modal import modal_query
    from apm.adapters.skactiveml import APMActiveClassifier, APMQueryStrategy
    from apm.adapters.sklearn import APMClassifier

_HOMES = {
    "APMClassifier": "apm.adapters.sklearn",
    "APMActiveClassifier": "apm.adapters.skactiveml",
    "APMQueryStrategy": "apm.adapters.skactiveml",
    "Committee": "apm.adapters.committee",
    "modal_query": "apm.adapters.modal",
}

__all__ = [
    "APMClassifier",
    "APMActiveClassifier",
    "APMQueryStrategy",
    "Committee",
    "modal_query",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
