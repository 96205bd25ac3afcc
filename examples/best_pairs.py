"""The best of 12 million pairs: which two of five thousand things to compare next.

Run with `python examples/best_pairs.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from apm import Belief, Difference, Laplace, PairPool
from channelcode import Logistic


def main() -> None:
    rng = np.random.default_rng(0)
    things, taste = rng.normal(size=(5000, 2)), np.array([1.5, -2.0])
    pool, belief, asked = PairPool(things), Belief(Laplace(Logistic(), 1.0), Difference()), []
    for _ in range(8):
        choice = pool.search(belief, exclude=asked or None)
        (pair,) = choice
        difference = (things[pair[0]] - things[pair[1]]) @ taste
        belief = belief.update(pool.rows([pair])[0], int(Logistic().sample(difference, rng=rng)))
        asked.append(pair)
    mean = belief.posterior.mean
    cosine = mean @ taste / np.linalg.norm(mean) / np.linalg.norm(taste)
    print(
        f"after {len(asked)} comparisons {np.degrees(np.arccos(cosine)):.0f} degrees from the truth"
    )
    print(f"the last search looked at {choice.share:.1e} of all pairs")

    figure = Figure(figsize=(5.4, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*things.T, ".", color="0.8", markersize=2)
    for number, (i, j) in enumerate(asked):
        axes.plot(*things[[i, j]].T, "o-", color=f"C{number % 10}", markersize=3, linewidth=1)
    axes.annotate(
        "true taste", (0, 0), tuple(taste), arrowprops={"arrowstyle": "<-", "linewidth": 2}
    )
    axes.set(title="Eight comparisons", xlabel="feature 1", ylabel="feature 2", aspect="equal")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "best_pairs.png", dpi=120)


if __name__ == "__main__":
    main()
