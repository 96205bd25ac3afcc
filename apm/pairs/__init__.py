"""All pairs of many items as candidates, without forming them.

`pool` is what users see, `scores` the rules as functions of two numbers and their bounds, `leaves`
the items in small groups, `search` the search over pairs of groups.
"""

from apm.pairs.pool import PairChoice, PairPool

__all__ = ["PairChoice", "PairPool"]
