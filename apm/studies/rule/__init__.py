"""Which selection rule should be the default: candidates against rivals, by a protocol fixed first.

`protocol` says what is run, on which data and seeds; `methods` names candidates and rivals;
`verdict` turns areas into statistics and a decision; `report` puts it in words; `run` does the work
and writes the tables.
"""

from apm.studies.rule.protocol import CONFIRM, DEVELOP, Condition, Stage, conditions
from apm.studies.rule.run import run_rule
from apm.studies.rule.verdict import Decision, Standing, decide, standings

__all__ = [
    "CONFIRM",
    "Condition",
    "DEVELOP",
    "Decision",
    "Stage",
    "Standing",
    "conditions",
    "decide",
    "run_rule",
    "standings",
]
