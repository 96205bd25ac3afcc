"""The multi-class study: which rule labels best, cell by cell, with committed results."""

from apm.experiments.multiclass.protocol import CELLS, CHOSEN_ON, Cell, list_cells, split_cell
from apm.experiments.multiclass.results import Outcomes, read_results
from apm.experiments.multiclass.rules import METHODS
from apm.experiments.multiclass.study import run_multiclass

__all__ = [
    "CELLS",
    "CHOSEN_ON",
    "Cell",
    "METHODS",
    "Outcomes",
    "list_cells",
    "read_results",
    "run_multiclass",
    "split_cell",
]
