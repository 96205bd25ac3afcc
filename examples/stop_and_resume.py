"""Stop and resume: what more labels would bring, a file for the night, and the same next pick.

Run with `python examples/stop_and_resume.py [picture.png]`.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from apm import Learner, StopWhenStable


def main() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    truth = (X @ [2.0, -1.0, 0.0, 0.5] + 0.5 * rng.logistic(size=300) > 0).astype(int)
    learner, rule = Learner(X, seed=0), StopWhenStable()
    labels, expected, low, high, stopped = [], [], [], [], None
    for count in range(1, 81):
        row = int(learner.ask())
        learner.tell(row, int(truth[row]))
        if stopped is None and rule.should_stop(learner):
            stopped = count
        if count % 10 == 0:
            advice = learner.stop_advice()
            labels.append(count)
            expected.append(advice.accuracy)
            low.append(advice.interval[0])
            high.append(advice.interval[1])
        if count == 40:  # end of the day
            with tempfile.TemporaryDirectory() as folder:
                path = learner.save(Path(folder) / "day-1.npz")
                following = int(learner.ask())
                learner = Learner.load(path)
            assert int(learner.ask()) == following
            print(f"saved after {count} labels; read back, row {following} is next, as before")
    print(learner.stop_advice())
    print(f"StopWhenStable says stop after {stopped} labels")

    measured = learner.curve(X, truth)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(labels, low, high, alpha=0.2, linewidth=0, label="5 % to 95 %")
    axes.plot(labels, expected, marker=".", label="expected by the model")
    axes.plot(measured.labels, measured.accuracy, color="0.3", label="measured on the pool")
    if stopped is not None:
        axes.axvline(stopped, color="C1", linestyle="--", label="StopWhenStable")
    axes.set(xlabel="labels", ylabel="accuracy")
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "stop_and_resume.png", dpi=120)


if __name__ == "__main__":
    main()
