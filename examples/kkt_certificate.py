"""A certificate to look at: the KKT function touches the capacity at the atoms.

Run with `python examples/kkt_certificate.py [picture.png]`.
"""

import sys

from channelcode import Power, QuantisedGaussian, capacity, plot


def main() -> None:
    result = capacity(QuantisedGaussian((-1.0, 0.0, 1.0)), Power(9.0))
    print(f"{result.bits:.9f} bits; proved between {result.lower:.12f} and {result.upper:.12f}")
    print(f"status {result.status.name}; proved for {result.scope}")
    for atom, weight in zip(result.input.atoms, result.input.weights):
        print(f"  {weight:.6f} at {atom:+.6f}")
    plot.capacity(result).savefig(
        sys.argv[1] if len(sys.argv) > 1 else "kkt_certificate.png", dpi=120
    )


if __name__ == "__main__":
    main()
