"""Gaussian noise, inputs of bounded size: where two signals stop being best (Smith, 1971).

Up to A = 1.67 the best input takes the values -A and A; above it a third one appears at zero. Run
with `python examples/smith_transition.py [picture.png]`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from channelcode import AdditiveGaussian, Peak, capacity


def main() -> None:
    peaks = np.linspace(0.6, 3.4, 29)
    results = [capacity(AdditiveGaussian(1.0), Peak(float(peak))) for peak in peaks]
    counts = [len(result.input) for result in results]
    for before, after, low, high in zip(counts, counts[1:], peaks, peaks[1:]):
        if before != after:
            print(f"from {before} to {after} atoms between A = {low:.1f} and {high:.1f}")
    figure = Figure(figsize=(6, 4.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.6))
    upper.plot(peaks, [result.bits for result in results])
    upper.plot(peaks, 0.5 * np.log2(1 + peaks**2), "--", color="0.5", label="Shannon, power A²")
    upper.set_ylabel("bits")
    upper.legend(frameon=False, fontsize=8)
    for peak, result in zip(peaks, results):
        law = result.input
        lower.scatter(np.full(len(law), peak), law.atoms, s=4 + 60 * law.weights, color="C0")
    lower.set(xlabel="largest input A", ylabel="atoms (area: weight)")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "smith_transition.png", dpi=120)


if __name__ == "__main__":
    main()
