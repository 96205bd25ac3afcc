"""Many runs of a group code on the binary symmetric channel, by counts of messages per level.

The true message is uniform in its group, so its level is all that has to be known of it. Counts
are floats: exact below 2^53, and right to 1e-15 of a count above.
"""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import kernel

TIE = 1e-12


@kernel
def simulate_groups(counts, level_law, powers, crossover, error, first, rule, seeds, most):
    """Uses of each run, whether it was wrong, and the most groups at a time; uses -1: ran out.

    `counts[d]` messages disagree d times after `first` uses; the true message is at level d with
    the cumulated probability `level_law[d]`. `powers[d]` is r^d. `rule` 0 is the ordered
    partition, 1 SED. Each run ends when all messages but the best have mass `error` or less.
    """
    runs, room = seeds.shape[0], powers.shape[0]
    uses = np.zeros(runs, np.int64)
    wrong = np.zeros(runs, np.int64)
    peak = 0
    now = np.zeros(room)
    after = np.zeros(room)
    inside = np.zeros(room)
    state = np.zeros(1, np.uint64)
    for run in range(runs):
        state[0] = seeds[run]
        size = counts.shape[0]
        for d in range(size):
            now[d] = counts[d]
        draw = _uniform(state)
        level = 0
        while level < size - 1 and draw >= level_law[level]:
            level += 1
        time = first
        while True:
            total = 0.0
            groups = 0
            for d in range(size):
                total += now[d] * powers[d]
                groups += now[d] > 0.0
            peak = max(peak, groups)
            rest = (now[0] - 1.0) * powers[0]
            for d in range(1, size):
                rest += now[d] * powers[d]
            if rest <= error * total:
                uses[run] = time
                # of several most probable messages the decoder may name another one
                wrong[run] = level != 0 or now[0] > 1.5
                break
            if size + 1 >= room or time >= most:
                uses[run] = -1
                break
            if rule == 0:
                _ordered(now, powers, size, total, inside)
            else:
                _small_enough(now, powers, size, total, inside)
            draw = _uniform(state)
            asked = draw * now[level] < inside[level]
            draw = _uniform(state)
            first_side = asked != (draw < crossover)  # the output names S0
            for d in range(size + 1):
                after[d] = 0.0
            for d in range(size):
                after[d if first_side else d + 1] += inside[d]
                after[d + 1 if first_side else d] += now[d] - inside[d]
            if asked != first_side:
                level += 1
            size += 1
            low = 0
            while after[low] <= 0.0:
                low += 1
            while after[size - 1] <= 0.0:
                size -= 1
            for d in range(low, size):
                now[d - low] = after[d]
            size -= low
            level -= low
            time += 1
    return uses, wrong, peak


@kernel
def _uniform(state):
    """A uniform number in [0, 1) by splitmix64; `state` holds one word and moves on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 2.0**-53


@kernel
def _ordered(counts, powers, size, total, inside):
    """The prefix of the most probable messages whose mass is nearest one half, ties to more."""
    below = 0.0
    done = False
    for d in range(size):
        if done:
            inside[d] = 0.0
            continue
        mass = counts[d] * powers[d]
        if below + mass >= 0.5 * total or d == size - 1:
            share = (0.5 * total - below) / powers[d] + 0.5 * TIE * total / powers[d]
            inside[d] = min(counts[d], np.floor(share + 0.5))
            if d == size - 1 and below + inside[d] * powers[d] >= total * (1.0 - 1e-15):
                inside[d] -= 1.0
            done = True
        else:
            inside[d] = counts[d]
            below += mass


@kernel
def _small_enough(counts, powers, size, total, inside):
    """SED: move the least probable member of the heavier side until the difference is small."""
    for d in range(size):
        inside[d] = counts[d]
    difference = total
    place = size - 1
    while True:
        while place > 0 and inside[place] <= 0.0:
            place -= 1
        least = powers[place]
        if difference <= least + TIE * total:
            return
        moves = min(inside[place], max(1.0, np.ceil((difference - least) / (2.0 * least) - 1e-9)))
        inside[place] -= moves
        difference -= 2.0 * moves * least
        if difference < 0.0:
            for d in range(size):
                inside[d] = counts[d] - inside[d]
            difference = -difference
            place = size - 1
