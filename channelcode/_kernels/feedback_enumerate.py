"""All output sequences of posterior matching, depth first: intervals in arrays, one row a depth."""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import kernel

SLACK = 1e-15  # a cut this near to an end of an interval, in mass, is at that end


@kernel
def enumerate_tree(matrix, letters, quantiles, steps, bits):
    """Information in bits, expected variance and P(bits right) after 0 .. steps uses.

    `letters[t, i]` is the letter of the i-th piece at use t, cut at `quantiles[t]`; a message is
    uniform on [0, 1). Outputs of probability zero are not followed.
    """
    num_outputs = matrix.shape[1]
    pieces = letters.shape[1]
    room = 2 + (pieces - 1) * (steps + 1)
    ends = np.zeros((steps + 1, room + 1))
    masses = np.zeros((steps + 1, room))
    sizes = np.zeros(steps + 1, np.int64)
    chances = np.zeros(steps + 1)
    following = np.zeros(steps + 1, np.int64)
    information = np.zeros(steps + 1)
    variance = np.zeros(steps + 1)
    correct = np.zeros((steps + 1, bits + 1))
    cut_ends = np.zeros(room + pieces + 1)
    cut_masses = np.zeros(room + pieces)
    owner = np.zeros(room + pieces, np.int64)
    cells = np.zeros(1 << bits)
    ends[0, 1] = 1.0
    masses[0, 0] = 1.0
    sizes[0] = 1
    chances[0] = 1.0
    depth = 0
    following[0] = -1
    while depth >= 0:
        if following[depth] == -1:
            size = sizes[depth]
            chance = chances[depth]
            gain, first, second = 0.0, 0.0, 0.0
            for i in range(size):
                weight = masses[depth, i]
                low, high = ends[depth, i], ends[depth, i + 1]
                if weight > 0.0 and high > low:
                    gain += weight * np.log2(weight / (high - low))
                middle = 0.5 * (low + high)
                first += weight * middle
                second += weight * (high - low) * (high - low) / 12.0
            for i in range(size):
                middle = 0.5 * (ends[depth, i] + ends[depth, i + 1])
                second += masses[depth, i] * (middle - first) * (middle - first)
            information[depth] += chance * gain
            variance[depth] += chance * second
            _cells(ends[depth], masses[depth], size, bits, cells)
            count = 1 << bits
            for k in range(bits, -1, -1):
                best = 0.0
                for i in range(count):
                    best = max(best, cells[i])
                correct[depth, k] += chance * best
                count //= 2
                for i in range(count):
                    cells[i] = cells[2 * i] + cells[2 * i + 1]
            following[depth] = 0
        output = following[depth]
        if depth == steps or output == num_outputs:
            depth -= 1
            continue
        following[depth] = output + 1
        size = _cut(
            ends[depth], masses[depth], sizes[depth], quantiles[depth], cut_ends, cut_masses, owner
        )
        chance = 0.0
        for i in range(size):
            chance += cut_masses[i] * matrix[letters[depth, owner[i]], output]
        if chance <= 0.0:
            continue
        kept = 0
        ends[depth + 1, 0] = 0.0
        for i in range(size):
            weight = cut_masses[i] * matrix[letters[depth, owner[i]], output] / chance
            if weight == 0.0 and kept > 0 and masses[depth + 1, kept - 1] == 0.0:
                ends[depth + 1, kept] = cut_ends[i + 1]
                continue
            masses[depth + 1, kept] = weight
            ends[depth + 1, kept + 1] = cut_ends[i + 1]
            kept += 1
        sizes[depth + 1] = kept
        chances[depth + 1] = chances[depth] * chance
        depth += 1
        following[depth] = -1
    return information, variance, correct


@kernel
def _cut(ends, masses, size, quantiles, cut_ends, cut_masses, owner):
    """Cut the intervals at the quantiles; `owner` is the piece that each part lies in."""
    total = 0.0
    for i in range(size):
        total += masses[i]
    count, piece, below = 0, 0, 0.0
    cut_ends[0] = 0.0
    for i in range(size):
        low, high, weight = ends[i], ends[i + 1], masses[i]
        left = weight
        while piece < quantiles.shape[0]:
            target = quantiles[piece] * total
            need = target - below
            if need >= left - SLACK:
                break
            if need > SLACK:
                middle = high - (high - low) * ((left - need) / left)
                cut_ends[count + 1] = middle
                cut_masses[count] = need
                owner[count] = piece
                count += 1
                left -= need
                below += need
                low = middle
            piece += 1
        cut_ends[count + 1] = high
        cut_masses[count] = left
        owner[count] = piece
        count += 1
        below += left
        while piece < quantiles.shape[0] and below >= quantiles[piece] * total - SLACK:
            piece += 1
    return count


@kernel
def _cells(ends, masses, size, bits, cells):
    """The mass of each of the 2^bits dyadic cells."""
    count = 1 << bits
    for j in range(count):
        cells[j] = 0.0
    for i in range(size):
        low, high, weight = ends[i], ends[i + 1], masses[i]
        if weight <= 0.0 or high <= low:
            continue
        j = min(int(low * count), count - 1)
        while j < count and j < high * count:
            left = max(low, j / count)
            right = min(high, (j + 1) / count)
            if right > left:
                cells[j] += weight * ((right - left) / (high - low))
            j += 1
