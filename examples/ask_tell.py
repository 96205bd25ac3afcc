"""Ask and tell: label sixty of 500 examples, then read the learner's own record.

Run with `python examples/ask_tell.py [picture.png]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from apm import APM, Learner, PoolMaxPower, Random, VariationalLogistic


def pool_and_labels(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on both sides of a plane in twelve dimensions, labels noisy near it."""
    X = rng.normal(size=(rows, 12)) * np.linspace(3.0, 0.5, 12)
    noise = rng.logistic(scale=0.3, size=rows)
    return X, np.where(X[:, 0] - X[:, 4] + X[:, 8] + noise > 0, "inside", "outside")


def main() -> None:
    rng = np.random.default_rng(7)
    X, y = pool_and_labels(500, rng)
    test_X, test_y = pool_and_labels(2000, rng)

    learner = Learner(X, VariationalLogistic(), APM(PoolMaxPower()), seed=0)
    passive = Learner(X, VariationalLogistic(), Random(), seed=0)
    for query in range(1, 61):
        for each in (learner, passive):
            index = each.ask()
            each.tell(index, y[index])
        if query % 20 == 0:
            scores = [np.mean(each.predict(test_X) == test_y) for each in (learner, passive)]
            print(f"{query} labels: APM {scores[0]:.3f}, random {scores[1]:.3f}")

    print()
    print(learner.explain(int(learner.ask()[0])))
    total = sum(record.bits or 0.0 for record in learner.history)
    print(f"\n60 labels were expected to tell {total:.1f} bits; the last ones:")
    for record in learner.history[-3:]:
        print(
            f"  row {record.index} = {record.label}: {record.bits:.3f} bits, at most "
            f"{record.bound:.3f} more elsewhere, {1e3 * record.seconds:.2f} ms"
        )

    batch = learner.ask(5)
    print(f"\na batch of five, spread over what is still unknown: {batch.tolist()}")

    with tempfile.TemporaryDirectory() as folder:
        path = learner.save(Path(folder) / "learner.npz")
        again = Learner.load(path)
        assert again.ask(5).tolist() == batch.tolist()
        print("saved, loaded, and the next picks are the same")

    told = [record.bits or 0.0 for record in learner.history]
    most = [bits + (record.bound or 0.0) for bits, record in zip(told, learner.history)]
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.arange(1, 61), told, label="expected of the row that was asked")
    axes.plot(np.arange(1, 61), most, "--", color="0.5", label="no row could tell more than this")
    axes.set(xlabel="labels", ylabel="bits", ylim=(0, 1.3))
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "ask_tell.png", dpi=120)


if __name__ == "__main__":
    main()
