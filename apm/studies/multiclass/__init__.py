"""The multi-class study: which rule labels best, cell by cell, with committed results."""

from apm.studies.multiclass.methods import METHODS
from apm.studies.multiclass.protocol import CELLS, CHOSEN_ON, Cell, CellPlan, list_cells
from apm.studies.multiclass.results import Outcomes, read_results
from apm.studies.multiclass.run import run_multiclass

__all__ = [
    "CELLS",
    "CHOSEN_ON",
    "Cell",
    "CellPlan",
    "METHODS",
    "Outcomes",
    "list_cells",
    "read_results",
    "run_multiclass",
]
