"""A channel of your own, from its formula to a run: labellers who answer at random now and then.

The only thing a channel must write is `log_prob`. Capacity with proof, the target input, the
posterior, the selector and the certificate follow. Run with
`python examples/new_channel.py [picture.png]`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from apm import APM, Laplace, Learner, PoolMaxPower
from channelcode import Channel, Power, capacity, plot
from channelcode.testing import check_channel


@dataclass(frozen=True)
class Hesitant(Channel):
    """Three answers: no, yes, or "cannot say", which is likelier near the boundary."""

    patience: float = 1.0
    dim = 1
    num_outputs = 3

    def log_prob(self, l):
        unsure = 0.5 * np.exp(-0.5 * (l / self.patience) ** 2)
        yes = (1 - unsure) * expit(l)
        return np.log(np.stack([1 - unsure - yes, unsure, yes], axis=-1))


def main() -> None:
    channel = Hesitant()
    check_channel(channel)

    for power in (1.0, 9.0):
        result = capacity(channel, Power(power))
        atoms = ", ".join(
            f"{weight:.3f} at {atom:+.3f}"
            for atom, weight in zip(result.input.atoms, result.input.weights)
        )
        print(f"P = {power:g}: {result.bits:.6f} bits (gap {result.certificate.gap:.1e}); {atoms}")

    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    theta = np.array([2.0, -1.0, 0.5])
    answers = np.array(["no", "unsure", "yes"])[channel.sample(X @ theta, rng=rng)]

    model = Laplace(channel, prior_precision=0.1, classes=["no", "unsure", "yes"])
    learner = Learner(X, model, APM(PoolMaxPower()), seed=0)
    for _ in range(25):
        index = learner.ask()
        learner.tell(index, answers[index])
    mean = learner.belief.posterior.mean
    cosine = mean @ theta / np.linalg.norm(mean) / np.linalg.norm(theta)
    print(
        f"\nafter 25 answers the angle to the truth is {np.degrees(np.arccos(cosine)):.1f} degrees"
    )
    print(learner.explain(int(learner.ask()[0])))
    counts = {
        str(k): int(v) for k, v in zip(*np.unique(answers[learner.labelled], return_counts=True))
    }
    print(f"answers so far: {counts}")
    path = sys.argv[1] if len(sys.argv) > 1 else "new_channel.png"
    plot.capacity(result).savefig(path, dpi=120)


if __name__ == "__main__":
    main()
