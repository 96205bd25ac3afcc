"""Optimal transport in the plane: which part of a Gaussian goes to which atom.

The cells are bounded by straight lines; their masses are the weights of the atoms, exactly. Run
with `python examples/w2_cells.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from channelcode import DiscreteMeasure, Gaussian, w2


def main() -> None:
    law = Gaussian([0.0, 0.0], [[1.0, 0.4], [0.4, 0.7]])
    atoms = np.array([[1.5, 0.5], [-1.2, 0.9], [-0.8, -1.2], [1.0, -1.1], [0.1, 0.1]])
    target = DiscreteMeasure(atoms, [0.3, 0.2, 0.2, 0.1, 0.2])
    result = w2(law, target)
    print(f"W2² = {result.squared:.9f}, between {result.lower:.9f} and {result.upper:.9f}")

    side = np.linspace(-3.2, 3.2, 400)
    points = np.stack(np.meshgrid(side, side), axis=-1)
    price = np.asarray(result.potentials[1])
    cost = ((points[..., None, :] - atoms) ** 2).sum(axis=-1) - price
    inverse = np.linalg.inv(law.covariance)
    density = np.exp(-0.5 * np.einsum("xyi,ij,xyj->xy", points, inverse, points))

    figure = Figure(figsize=(5.2, 4.8), layout="constrained")
    axes = figure.subplots()
    extent = (side[0], side[-1], side[0], side[-1])
    axes.imshow(cost.argmin(axis=-1), cmap="Pastel1", vmin=0, vmax=8, extent=extent, origin="lower")
    axes.contour(side, side, density, levels=[0.1, 0.3, 0.6, 0.9], colors="0.4", linewidths=0.8)
    axes.scatter(*atoms.T, s=600 * target.weights, color="k")
    for atom, weight in zip(atoms, target.weights):
        axes.annotate(f"{weight:.1f}", atom, xytext=(9, 6), textcoords="offset points")
    axes.set(title="Cells of a Gaussian for five atoms", aspect="equal")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "w2_cells.png", dpi=120)


if __name__ == "__main__":
    main()
