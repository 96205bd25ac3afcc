"""Capacity against power: what three ordered grades can carry, and how the best inputs split.

Run with `python examples/capacity_curve.py [picture.png]`.
"""

import sys

import numpy as np

from channelcode import Ordinal, capacity_curve, plot


def main() -> None:
    curve = capacity_curve(Ordinal((-1.0, 1.0)), np.linspace(0.0, 16.0, 65))
    for power in (1, 4, 16):
        at = int(np.argmin(np.abs(curve.powers - power)))
        print(f"P = {power}: {curve.bits[at]:.6f} bits, {len(curve.inputs[at])} atoms")
    print(f"largest gap {max(curve.gap):.0e} bits")
    path = sys.argv[1] if len(sys.argv) > 1 else "capacity_curve.png"
    plot.capacity_curve(curve).savefig(path, dpi=120)


if __name__ == "__main__":
    main()
