"""64 bits with feedback: a message through logistic labels, and a threshold by the same rule.

Run with `python examples/feedback_code.py [picture.png]`.
"""

from __future__ import annotations

import sys

import numpy as np

from apm import Bisection, Learner, Thresholds
from channelcode import Logistic, Power, plot
from channelcode.feedback import Confidence, PosteriorMatching, bounds, transmit

# A message of 64 bits through the channel of logistic regression at power 4.
scheme = PosteriorMatching(Logistic(), Power(4.0))
message = 0x0123456789ABCDEF
run = transmit(scheme, message, messages=2**64, stop=Confidence(1e-3), rng=0)
limits = bounds(scheme, 2**64, stop=Confidence(1e-3))
print(f"capacity {scheme.information_bits:.4f} bits a use, letters {scheme.letters.tolist()}")
print(f"decoded {run.decoded:#018x} after {run.uses} uses: {'right' if run.correct else 'wrong'}")
print(f"rate {run.rate_bits:.3f} bits a use; no code needs fewer than {limits.fano:.0f} on average")
print(f"certified: rounding the cuts cost {run.loss_bits.sum():.2f} bits in all")
assert run.replay() == run

# The same scheme is active learning of a threshold: message = threshold, query = cut.
rng = np.random.default_rng(1)
queries = np.repeat(np.arange(1.0, 64.0), 10)[:, None]  # every query may be asked ten times
learner = Learner(queries, Thresholds.noisy(np.arange(64) + 0.5, 0.1), Bisection(), seed=0)
for _ in range(40):
    row = int(learner.ask())
    above = queries[row, 0] < 40.5
    learner.tell(row, int(above == (rng.random() > 0.1)))  # one answer in ten is wrong
print(f"threshold {learner.belief.posterior.map[0]}, the truth is 40.5")
print(learner.efficiency)

path = sys.argv[1] if len(sys.argv) > 1 else "feedback_code.png"
plot.waterfall(run).savefig(path, dpi=120)
