"""Codes with feedback: time per use against a plain array, and flat in the number of bits.

    python benchmarks/bench_feedback.py

One process, one thread, seconds of the processor, least of several repeats; both sides of a ratio
are timed in turn.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from channelcode.feedback import Confidence, Horstein, OrderedPartition, expected_uses

CROSSOVER = 0.11


def array_seconds(messages: int, uses: int = 12) -> float:
    """Seconds a use of a posterior array: cumulate, cut at the median, multiply, normalise."""
    started = process_time()
    law = np.full(messages, 1.0 / messages)
    for _ in range(uses):
        cut = int(np.searchsorted(np.cumsum(law), 0.5))
        law[:cut] *= 1.0 - CROSSOVER
        law[cut:] *= CROSSOVER
        law /= law.sum()
    return (process_time() - started) / uses


def scheme_seconds(bits: int, least: int = 600) -> float:
    """Seconds a use of `encode` and `update`, over whole transmissions of messages of k bits."""
    scheme, rng = Horstein(CROSSOVER), np.random.default_rng(bits)
    uses = int(bits / scheme.information_bits)
    runs = max(1, least // uses)
    noise = (rng.random((runs, uses)) < CROSSOVER).tolist()
    message = int.from_bytes(rng.bytes(bits // 8), "big")
    started = process_time()
    for flips in noise:
        state = scheme.start(messages=2**bits)
        for flip in flips:
            letter = scheme.encode(state, message)
            state = scheme.update(state, int(letter) ^ flip)
    return (process_time() - started) / (runs * uses)


def main() -> None:
    """Print the table."""
    scheme_seconds(16, 200)  # imports and first calls
    print("per use, against a NumPy array of M messages")
    for bits, goal in ((16, 100), (20, 1000)):
        rounds = [(array_seconds(2**bits), scheme_seconds(bits)) for _ in range(15)]
        array, ours = (min(column) for column in zip(*rounds, strict=True))
        ratio = array / ours
        print(
            f"  M = 2^{bits}: array {array * 1e6:8.1f} us, intervals {ours * 1e6:6.2f} us, "
            f"{ratio:7.0f} times (aim {goal})"
        )
    print("flat in k")
    sizes = (64, 256, 1024, 4096)
    best = {bits: min(scheme_seconds(bits) for _ in range(4)) for bits in sizes}
    for bits in sizes:
        print(f"  k = {bits:5d}: {best[bits] * 1e6:6.2f} us a use")
    print(f"  largest over least: {max(best.values()) / min(best.values()):.2f} (aim 2)")
    runs = 400_000
    expected_uses(OrderedPartition(CROSSOVER), 2**20, stop=Confidence(1e-3), runs=10)
    started = process_time()
    found = expected_uses(OrderedPartition(CROSSOVER), 2**20, stop=Confidence(1e-3), runs=runs)
    seconds = process_time() - started
    print(
        f"{runs} runs of the ordered partition at k = 20, e = {CROSSOVER}: {seconds:.1f} s "
        f"(aim 60), mean {found.mean:.4f} +- {found.standard_error:.4f}"
    )


if __name__ == "__main__":
    main()
