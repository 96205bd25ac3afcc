"""Learning from several experts with prices: whom to ask about what.

`learner` is the loop with experts (`Learner(pool, experts=[...])` makes one), `pairs` what it hands
out, `panel` the one posterior of all answers.
"""

from apm.encoders.experts import Expert
from apm.experts.learner import ExpertLearner
from apm.experts.pairs import Answered, Pairs

__all__ = ["Answered", "Expert", "ExpertLearner", "Pairs"]
