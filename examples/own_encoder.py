"""An encoder of your own: find a transmitter in the plane from "do you hear it here?".

How loud it is falls with the distance, so the place enters in no linear way. Run with
`python examples/own_encoder.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Grid, InformationGain, Learner, NonLinear
from apm.testing import check_encoder
from channelcode import Logistic

SIDE = np.linspace(0.0, 10.0, 41)


def loudness(theta: np.ndarray, X: np.ndarray) -> np.ndarray:
    """l (n, s) = 3 - distance, from places theta (s, 2) to listeners X (n, 2)."""
    return 3.0 - np.linalg.norm(X[:, None, :] - theta[None, :, :], axis=2)


def main() -> None:
    rng = np.random.default_rng(4)
    listeners, truth = rng.uniform(0, 10, size=(150, 2)), np.array([[6.5, 3.0]])
    encoder = NonLinear(loudness, num_parameters=2)
    check_encoder(encoder, listeners)
    heard = Logistic().sample(encoder.inputs(truth, listeners)[:, 0], rng=rng)

    learner = Learner(listeners, Grid([SIDE, SIDE], Logistic(), encoder), InformationGain(), seed=0)
    for _ in range(25):
        row = int(learner.ask())
        learner.tell(row, int(heard[row]))
    print(f"expected at {learner.belief.posterior.mean.round(2)}, in truth at {truth[0]}")

    figure = Figure(figsize=(5.4, 4.6), layout="constrained")
    axes = figure.subplots()
    mass = learner.belief.posterior.weights.reshape(41, 41)
    drawn = axes.pcolormesh(SIDE, SIDE, mass.T, cmap="Blues", shading="nearest")
    figure.colorbar(drawn, ax=axes, label="posterior mass")
    for answer, marker in ((0, "x"), (1, "o")):
        rows = [row for row in learner.labelled if heard[row] == answer]
        axes.plot(*listeners[rows].T, marker, color="k", label=("not heard", "heard")[answer])
    axes.plot(*truth[0], "*", color="#D55E00", markersize=16, label="the transmitter")
    axes.set(title="25 questions", xlabel="east", ylabel="north", aspect="equal")
    axes.legend(loc="upper left", fontsize=8)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "own_encoder.png", dpi=120)


if __name__ == "__main__":
    main()
