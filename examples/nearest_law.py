"""The nearest law: which of 20,000 planar Gaussians lies nearest to three atoms, with proof.

This is what posterior matching asks of a pool with three classes. Run with
`python examples/nearest_law.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from channelcode import DiscreteMeasure, FullPool, nearest


def main() -> None:
    rng = np.random.default_rng(0)
    roots = 0.8 * rng.normal(size=(20_000, 2, 2))
    pool = FullPool(2.0 * rng.normal(size=(20_000, 2)), roots @ roots.transpose(0, 2, 1))
    angle = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
    target = DiscreteMeasure.uniform(1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    best = nearest(pool, target, k=3)
    print(f"best rows {best.index.tolist()}, W2² {best.squared.round(6).tolist()}")
    print(f"{best.solves} solved, {best.pruned} excluded by a bound")

    figure = Figure(figsize=(5.2, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(*pool.mean[:2000].T, ".", color="0.8", markersize=2, label="means of the first 2,000")
    for place, row in enumerate(best.index):
        values, vectors = np.linalg.eigh(pool.covariance[row])
        size = 2 * np.sqrt(np.maximum(values, 0))
        turn = np.degrees(np.arctan2(*vectors[::-1, 1]))
        shape = Ellipse(
            tuple(pool.mean[row]), size[1], size[0], angle=turn, label=f"number {place + 1}"
        )
        shape.set(fill=False, edgecolor=f"C{place}", linewidth=2)
        axes.add_patch(shape)
    axes.plot(*target.atoms.T, "k^", label="the target")
    axes.set(
        title="The three nearest laws (one deviation)", aspect="equal", xlim=(-5, 5), ylim=(-5, 5)
    )
    axes.legend(fontsize=8)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "nearest_law.png", dpi=120)


if __name__ == "__main__":
    main()
