"""Experiments with the library: the paper's, the one for many classes, the one for the default.

- `data`: data sets by nickname, with their counts checked;
- `engine`: what every study needs: trials through `Learner`, a store, workers, statistics;
- `report`: HTML pages and figures;
- `paper`, `multiclass`: two studies, each its protocol, its claims and its report;
- `rule`: which selector should be the default, by a protocol fixed before the run;
- `sweep`: capacity curves of many channels, by workers or on a cluster.
"""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from apm.studies.data.catalogue import Dataset as Dataset
    from apm.studies.data.catalogue import list_datasets as list_datasets
    from apm.studies.data.catalogue import load as load
    from apm.studies.engine.execution import StudyError as StudyError
    from apm.studies.engine.store import StoreError as StoreError
    from apm.studies.engine.study import Outcome as Outcome
    from apm.studies.engine.study import Plan as Plan
    from apm.studies.engine.study import Study as Study
    from apm.studies.engine.study import run_study as run_study
    from apm.studies.multiclass import run_multiclass as run_multiclass
    from apm.studies.paper.methods import ADDITIONS as ADDITIONS
    from apm.studies.paper.methods import METHODS as METHODS
    from apm.studies.paper.methods import PAPER_METHODS as PAPER_METHODS
    from apm.studies.paper.reproduce import Reproduction as Reproduction
    from apm.studies.paper.reproduce import reproduce as reproduce
    from apm.studies.rule import run_rule as run_rule
    from apm.studies.sweep import capacity_sweep as capacity_sweep
else:
    attach(
        __name__,
        {
            "data.catalogue": "Dataset list_datasets load",
            "engine.execution": "StudyError",
            "engine.store": "StoreError",
            "engine.study": "Outcome Plan Study run_study",
            "multiclass": "run_multiclass",
            "paper.methods": "ADDITIONS METHODS PAPER_METHODS",
            "paper.reproduce": "Reproduction reproduce",
            "rule": "run_rule",
            "sweep": "capacity_sweep",
        },
    )
