"""Experiments with the library: the paper's, and the one for many classes.

- `data`: data sets by nickname, with their counts checked;
- `engine`: what every study needs: trials through `Learner`, a store, workers, statistics;
- `report`: HTML pages and figures;
- `paper`, `multiclass`: the two studies, each its protocol, its claims and its report.
"""

from apm.studies.data.catalogue import Dataset, list_datasets, load
from apm.studies.engine.execution import StudyError
from apm.studies.engine.store import StoreError
from apm.studies.engine.study import Outcome, Plan, Study, run_study
from apm.studies.multiclass import run_multiclass
from apm.studies.paper.methods import ADDITIONS, METHODS, PAPER_METHODS
from apm.studies.paper.reproduce import Reproduction, reproduce

__all__ = [
    "ADDITIONS",
    "Dataset",
    "METHODS",
    "Outcome",
    "PAPER_METHODS",
    "Plan",
    "Reproduction",
    "StoreError",
    "Study",
    "StudyError",
    "list_datasets",
    "load",
    "reproduce",
    "run_multiclass",
    "run_study",
]
