"""The paper's experiments: data sets, trials, studies, statistics and the report."""

from apm.experiments.datasets import Dataset, list_datasets, load
from apm.experiments.execution import StudyError
from apm.experiments.methods import ADDITIONS, METHODS, PAPER_METHODS
from apm.experiments.reproduce import Reproduction, reproduce
from apm.experiments.store import StoreError
from apm.experiments.study import Outcome, Plan, Study, run_study

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
    "run_study",
]
