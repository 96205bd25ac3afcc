"""Gaussians in R^r by quasi-Monte Carlo, one coordinate integrated exactly."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import (
    SAME,
    axis_potential,
    first_potential,
    line_cells,
    merge_atoms,
    repair_loss,
    rough_quantile,
    spread_potential,
)
from channelcode._kernels.transport.newton import (
    STEPS,
    newton_arrays,
    newton_move,
)
from channelcode._kernels.transport.rare import FAR, count_light, mixed_nodes, rarest_cells

FIRST_GOAL = 1e-5  # decrement on the first nodes: they err by more
MOST_RARE = 32  # cells with nodes of their own
STAGES = 3  # of Newton's method, the last on all nodes
APART = 1e-4  # what masses may differ from the weights by, all together, at the end
NEAREST, NEAR, WIDER = 1e-6, 1e-3, 10.0  # distances of atoms of size one, taken for none in turn
IDLE = 1e-10  # of atoms of size one: what an atom may add to rho and be left out of Newton's method
EXTRA = 8  # of the given nodes to one of them, for every rare cell in every replicate


@kernel
def turn_apart(atoms: np.ndarray, directions: np.ndarray) -> None:
    """Rotate the atoms so that their first coordinates differ, as far as one direction allows.

    The exact integral along the first coordinate smooths the edge between two atoms in proportion
    to the difference of their first coordinates; of the unit `directions (d, r)` the one with the
    largest least difference, relative to the distance of the two, is turned to the first axis.
    """
    m, r = atoms.shape
    chosen = 0
    largest = -1.0
    for t in range(directions.shape[0]):
        least = math.inf
        for j in range(m):
            for k in range(j):
                along = 0.0
                apart = 0.0
                for d in range(r):
                    gap = atoms[j, d] - atoms[k, d]
                    along += directions[t, d] * gap
                    apart += gap * gap
                if apart > 0.0 and along * along < least * apart:
                    least = along * along / apart
            if least <= largest:
                break
        if least > largest:
            largest = least
            chosen = t
    mirror = np.empty(r)
    length = 0.0
    for d in range(r):
        mirror[d] = directions[chosen, d] - (1.0 if d == 0 else 0.0)
        length += mirror[d] ** 2
    if length < 1e-30:
        return
    for j in range(m):
        inner = 0.0
        for d in range(r):
            inner += mirror[d] * atoms[j, d]
        for d in range(r):
            atoms[j, d] -= 2.0 * inner / length * mirror[d]


@kernel
def sort_atoms(atoms: np.ndarray, order: np.ndarray) -> None:
    """Sort rows by their first entry, in place, and record where they came from."""
    m, r = atoms.shape
    for j in range(m):
        order[j] = j
    for j in range(1, m):
        for k in range(j, 0, -1):
            if atoms[k, 0] >= atoms[k - 1, 0]:
                break
            order[k], order[k - 1] = order[k - 1], order[k]
            for d in range(r):
                atoms[k, d], atoms[k - 1, d] = atoms[k - 1, d], atoms[k, d]


@kernel
def nodes_newton(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    shares: np.ndarray,
    goal: float,
) -> tuple[int, bool]:
    """Newton on the semi-dual over `nodes (n, r - 1)`; the steps, and whether all masses came out.

    The atoms are sorted by their first coordinate.
    """
    m = atoms.shape[0]
    mass, hessian, rows, work, state = newton_arrays(m)
    while True:
        value = line_cells(atoms, v, nodes, shares, mass, hessian, hessian[:0])
        for j in range(m):
            value += v[j] * weights[j]
        if newton_move(weights, v, mass, hessian, value, goal, rows, work, state):
            apart = 0.0
            for j in range(m):
                apart += abs(rows[2, j] - weights[j])
            return int(state[STEPS]), apart <= APART


@kernel
def clustered_newton(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    shares: np.ndarray,
    goal: float,
) -> int:
    """As `nodes_newton`; where masses do not come out, near atoms are taken for one; the steps.

    Clusters of atoms whose distances are many orders apart are beyond one Newton's method. Taking
    atoms within `near` of each other for one changes the dual value by about as much.
    """
    m = atoms.shape[0]
    steps, settled = nodes_newton(atoms, weights, v, nodes, shares, goal)
    near = NEAREST
    group = np.empty(m, dtype=np.int64)
    while not settled and near <= NEAR:
        some, own = atoms.copy(), weights.copy()
        kept = merge_atoms(some, own, group, near * near)
        near *= WIDER
        if kept in (1, m):
            continue
        u = np.empty(kept)
        axis_potential(some[:kept], own[:kept], u)
        more, settled = nodes_newton(some[:kept], own[:kept], u, nodes, shares, goal)
        steps += more
        if settled:
            spread_potential(u, group, v)
    return steps


@kernel
def heaviest_of(weights: np.ndarray) -> int:
    """The atom of the largest weight, the first of several."""
    heaviest = 0
    for j in range(weights.shape[0]):
        if weights[j] > weights[heaviest]:
            heaviest = j
    return heaviest


@kernel
def leave_out(
    atoms: np.ndarray, weights: np.ndarray, kept: np.ndarray, alone: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The atoms that matter and their weights, the others' given to the heaviest, at zero.

    What any coupling gains by atom j is below `|a_j| w_j (z_j + 1)`, z_j its quantile. Places go to
    `kept`, or -1; `alone (m,)` is `|a_j| z_j`, beyond which the half-space of an atom has its mass.
    """
    m, r = atoms.shape
    heaviest = heaviest_of(weights)
    own = weights.copy()
    count = 0
    for j in range(m):
        square = 0.0
        for d in range(r):
            square += (atoms[j, d] - atoms[heaviest, d]) ** 2
        far, z = math.sqrt(square), rough_quantile(min(weights[j], 0.5))
        alone[j] = far * z
        kept[j] = -1
        if j == heaviest or not far * weights[j] * (z + 1.0) <= IDLE:
            kept[j] = count
            count += 1
        else:
            own[heaviest] += weights[j]
    some, shares = np.empty((count, r)), np.empty(count)
    for j in range(m):
        if kept[j] >= 0:
            shares[kept[j]] = own[j]
            for d in range(r):
                some[kept[j], d] = atoms[j, d]
    return some, shares


@kernel
def quasi_newton(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    nodes: np.ndarray,
    shares: np.ndarray,
    goal: float,
) -> int:
    """Newton on the semi-dual as far as atoms matter; the others get the half-spaces of their mass.

    Cells of 1e-15 would have to be fed one by one, and no step may empty one. The steps.
    """
    m = atoms.shape[0]
    kept, alone = np.empty(m, dtype=np.int64), np.empty(m)
    some, own = leave_out(atoms, weights, kept, alone)
    if some.shape[0] in (1, m):
        return clustered_newton(atoms, weights, v, nodes, shares, goal)
    u = np.empty(some.shape[0])
    for j in range(m):
        if kept[j] >= 0:
            u[kept[j]] = v[j]
    steps = clustered_newton(some, own, u, nodes, shares, goal)
    ground = u[kept[heaviest_of(weights)]]
    for j in range(m):
        v[j] = u[kept[j]] if kept[j] >= 0 else ground + alone[j]
    return steps


@kernel
def move_origin(atoms: np.ndarray, weights: np.ndarray) -> None:
    """Put the heaviest atom at zero, which leaves the cells and E max as they are.

    Where its cell has most of the mass, the maximum vanishes there, and so does its rounding and
    the noise of the nodes' shares.
    """
    m, r = atoms.shape
    heaviest = heaviest_of(weights)
    for d in range(r):
        origin = atoms[heaviest, d]
        for j in range(m):
            atoms[j, d] -= origin


@kernel
def is_compact(atoms: np.ndarray) -> bool:
    """Whether no atom lies beyond FAR times the size: Voronoi cells are a good start then."""
    for j in range(atoms.shape[0]):
        square = 0.0
        for d in range(atoms.shape[1]):
            square += atoms[j, d] * atoms[j, d]
        if square > FAR * FAR:
            return False
    return True


@kernel
def extra_nodes(length: int) -> int:
    """How many nodes a rare cell gets in a replicate of the given length: an even number."""
    return 2 * max(length // (2 * EXTRA), 1)


@kernel
def quasi_pool(
    stack: np.ndarray,
    weights: np.ndarray,
    quantile: np.ndarray,
    given: np.ndarray,
    directions: np.ndarray,
    replicates: int,
    goal: float,
    potentials: np.ndarray,
) -> np.ndarray:
    """Potentials `(n, m)` for each row of `stack (n, m, r)`, of weighted size about one; the steps.

    Newton starts on the first of the `replicates` of the `given` nodes and ends on all, with those
    added that show the rare cells.
    """
    n, m, r = stack.shape
    steps = np.zeros(n, dtype=np.int64)
    all_atoms = np.empty((m, r))
    all_weights = np.empty(m)
    group = np.empty(m, dtype=np.int64)
    order = np.empty(m, dtype=np.int64)
    place = np.empty(m, dtype=np.int64)
    rare = np.empty(min(count_light(weights), MOST_RARE), dtype=np.int64)
    part = given.shape[0] // replicates
    extra = extra_nodes(part)
    room = given.shape[0] + replicates * extra * rare.shape[0]
    nodes, shares = np.empty((room, r - 1)), np.ones(room)
    for c in range(n):
        for j in range(m):
            all_weights[j] = weights[j]
            for d in range(r):
                all_atoms[j, d] = stack[c, j, d]
        kept = merge_atoms(all_atoms, all_weights, group, SAME)
        if kept == 1:
            for j in range(m):
                potentials[c, j] = 0.0
            continue
        atoms = all_atoms[:kept].copy()
        turn_apart(atoms, directions)
        sort_atoms(atoms, order)
        own = np.empty(kept)
        tails = np.empty(kept)
        v = np.empty(kept)
        for j in range(kept):
            own[j] = all_weights[order[j]]
            tails[j] = quantile[order[j]]
            place[order[j]] = j
        found = rarest_cells(atoms, own, tails, rare)
        if found == 0 and is_compact(atoms):
            first_potential(atoms, tails, v)
        else:
            axis_potential(atoms, own, v)
        move_origin(atoms, own)
        for stage in range(STAGES):
            # On one replicate first: where the rare cells lie is not known yet.
            last = stage == STAGES - 1
            rule, count, aim = given[:part], part, FIRST_GOAL
            if last:
                rule, count, aim = given, given.shape[0], goal
            elif found == 0 and (stage > 0 or replicates == 1):
                continue
            if found > 0:
                batches = replicates if last else 1
                used = rare[:found]
                count = mixed_nodes(atoms, v, used, rule, batches, extra, nodes, shares)
                rule = nodes[:count]
            ratios = shares[:count] if found > 0 else np.ones(count)
            steps[c] = quasi_newton(atoms, own, v, rule, ratios, aim)
        for j in range(m):
            potentials[c, j] = v[place[group[j]]]
    return steps


@kernel
def quasi_judge(
    stack: np.ndarray,
    weights: np.ndarray,
    quantile: np.ndarray,
    potentials: np.ndarray,
    given: np.ndarray,
    directions: np.ndarray,
    goal: float,
    values: np.ndarray,
) -> np.ndarray:
    """Independent estimates of the dual values, `values (n, replicates)`, and losses `(n,)`.

    Each replicate is an equal stretch of the `given` nodes, which the potentials have not seen,
    with those added that show the rare cells. The loss is what the mean of the replicates exceeds
    the value of a coupling of the same nodes, near the cells that Newton's method ends at.
    """
    n, m, r = stack.shape
    loss = np.empty(n)
    atoms = np.empty((m, r))
    order = np.empty(m, dtype=np.int64)
    own = np.empty(m)
    tails = np.empty(m)
    v = np.empty(m)
    mass = np.empty(m)
    moment = np.empty((m, r))
    hessian = np.empty((m, m))
    replicates = values.shape[1]
    rare = np.empty(min(count_light(weights), MOST_RARE), dtype=np.int64)
    part = given.shape[0] // replicates
    extra = extra_nodes(part)
    room = given.shape[0] + replicates * extra * rare.shape[0]
    mixed = np.empty((room, r - 1)) if rare.shape[0] > 0 else given
    ratios = np.ones(room)
    for c in range(n):
        for j in range(m):
            for d in range(r):
                atoms[j, d] = stack[c, j, d]
        turn_apart(atoms, directions)
        sort_atoms(atoms, order)
        constant = 0.0
        for j in range(m):
            own[j] = weights[order[j]]
            tails[j] = quantile[order[j]]
            v[j] = potentials[c, order[j]]
            constant += own[j] * v[j]
        found = rarest_cells(atoms, own, tails, rare)
        move_origin(atoms, own)
        nodes, shares = given, np.ones(given.shape[0])
        if found > 0:
            used = rare[:found]
            count = mixed_nodes(atoms, v, used, given, replicates, extra, mixed, ratios)
            nodes, shares = mixed[:count], ratios[:count]
        length = nodes.shape[0] // replicates
        mean = 0.0
        for t in range(replicates):
            begin, end = t * length, (t + 1) * length
            rule, parts = nodes[begin:end], shares[begin:end]
            total = line_cells(atoms, v, rule, parts, mass, hessian, moment[:0])
            values[c, t] = total + constant
            mean += values[c, t] / replicates
        quasi_newton(atoms, own, v, nodes, shares, goal)
        least = line_cells(atoms, v, nodes, shares, mass, hessian, moment)
        for j in range(m):
            least += own[j] * v[j]
        least -= repair_loss(atoms, own, v, mass, moment)
        loss[c] = abs(mean - least)
    return loss
