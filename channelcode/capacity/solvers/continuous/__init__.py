"""The solver for inputs anywhere in R or R^k.

`exchange` is the loop; `line_search` and `space_search` are its view of the input space, `maxima`
finds where the KKT function peaks on the line, `newton` gives the last digits, and `atoms` merges,
trims and keeps laws within the budget.
"""

from channelcode.capacity.solvers.continuous.exchange import Continuous

__all__ = ["Continuous"]
