"""Counting photons: the capacity of an optical channel whose energy is bounded.

Run with `python examples/poisson_optical.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from channelcode import Peak, Poisson, capacity


def main() -> None:
    peaks = np.linspace(0.25, 12.0, 24)
    figure = Figure(figsize=(6, 4.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.2, 1))
    for place, dark in enumerate((0.0, 1.0)):
        results = [capacity(Poisson(dark), Peak(float(peak))) for peak in peaks]
        name = "no dark counts" if dark == 0 else "one dark count a use"
        upper.plot(peaks, [result.bits for result in results], label=name)
        print(f"{name}: {results[-1].bits:.6f} bits at a peak of 12, {results[-1].status.name}")
        for peak, result in zip(peaks, results):
            law, shift = result.input, 0.12 * place
            size = 3 + 40 * law.weights
            lower.scatter(np.full(len(law), peak + shift), law.atoms, s=size, color=f"C{place}")
    upper.set_ylabel("bits a use")
    upper.legend(frameon=False)
    lower.set(xlabel="largest energy", ylabel="energies used")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "poisson_optical.png", dpi=120)


if __name__ == "__main__":
    main()
