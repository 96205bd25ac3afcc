"""Laguerre cells of a standard Gaussian in R^3: masses, moments and faces from their edges.

With `R^2 = h^2 + s^2 + y^2` at the height y of an edge's line (h: the distance of the face from the
origin, s: that of the line from the foot of the face), Gauss's theorem for the radial field gives

    mass of the face, in its plane   = I - sum over edges of int s/(s^2+y^2) e^{-(s^2+y^2)/2} / 2pi,
    mass of the cone beyond the face = I Q(h) - sum over edges of int s/(s^2+y^2) h Q(R)/R dy / 2pi,

I being one if the foot lies in the face. Three faces share the line of an edge, and so R. Taking
out the poles leaves the angles of the edges seen from the foot, which add up to 2 pi I but for the
arcs far away where the face has no edge: I is never needed, and a corner at the foot is no
exception.
"""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.owen import DENSITY, upper_tail
from channelcode._kernels.transport.space.lines import (
    ALONG,
    ARC,
    AT_LEFT,
    BEYOND,
    BLUR,
    DOUBT,
    EDGES,
    FIELDS,
    GROWTH,
    HEIGHT,
    LEFT,
    LENGTH,
    OFFSETS,
    PARTS,
    PLANE,
    POINT,
    REACH,
    RIGHT,
    ROUNDING,
    SHIFT,
    START,
    cut_line,
    find_line,
)
from channelcode._kernels.transport.ties import place_of

CLOSE = 2.5  # faces nearer than this are integrated without the pole at the origin
LONGEST = 3.2  # panel of the rule, in deviations: halved, values change by 1e-15 (6,000 diagrams)
WHOLE = 1e-6  # of an angle: a face that is a whole plane but for less is left to others
SMALLEST = 1e-13  # distance of atoms: nearer ones are one
SPLIT = 1e-8  # of the distances of atoms: moves potentials apart where four cells meet
CENTRE = np.array([0.3117, -0.4721, 0.2309])
TURN = 2.0 * math.pi
_RULES = [np.polynomial.legendre.leggauss(count) for count in (4, 6, 8, 12)]
NODES = np.array([np.pad(nodes, (0, 12 - len(nodes))) for nodes, _ in _RULES])
SHARES = np.array([np.pad(shares, (0, 12 - len(shares))) for _, shares in _RULES])
COUNTS = np.array([4, 6, 8, 12])


@kernel
def lay_faces(atoms: np.ndarray, level: np.ndarray, faces: np.ndarray) -> bool:
    """What each face needs before its edges: its distances, and Q at its foot; False if none."""
    m = atoms.shape[0]
    for j in range(m - 1):
        for k in range(j + 1, m):
            face = faces[j, k]
            dx = atoms[k, 0] - atoms[j, 0]
            dy = atoms[k, 1] - atoms[j, 1]
            dz = atoms[k, 2] - atoms[j, 2]
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            if not length > SMALLEST:
                return False
            h = (level[k] - level[j]) / length
            near = abs(h)
            face[LENGTH] = length
            face[HEIGHT] = h
            faces[k, j, LENGTH] = length
            faces[k, j, HEIGHT] = -h
            for place in (PLANE, BEYOND, ARC, EDGES, DOUBT):
                face[place] = 0.0
            face[SHIFT] = 0.5 if near < CLOSE else 0.0
            face[GROWTH] = math.exp(0.5 * min(near, REACH) ** 2)
            face[START] = -DENSITY
            if near > 1e-8:
                face[START] = (upper_tail(near) - face[SHIFT]) / near
    return True


@kernel
def excess_angle(height: float, offset: float, y: float, square: float) -> float:
    """The angle of a point on an edge, seen from the foot of a face, less that on the sphere.

    `atan(y/s) - atan(h y / (s R))` as one arctangent, which vanishes at the foot.
    """
    radius = math.sqrt(square + y * y)
    ratio = height / radius
    apart = offset * offset + y * y
    lack = apart / (radius * (radius + height))
    return math.atan2(y * offset * lack, offset * offset + ratio * y * y)


@kernel
def edge_integrals(line: np.ndarray, square: float, faces: np.ndarray, sums: np.ndarray) -> None:
    """Both integrals along an edge for its three faces `(3, FIELDS)`: `sums (2, 3)`.

    `square` is the squared distance of its line. The poles at `y = +- i s` are taken out, and
    from faces near the origin the one at R = 0, too: what is integrated by a rule is smooth.
    """
    sums[:] = 0.0
    left, right = line[LEFT], line[RIGHT]
    pieces = 1 + int((right - left) / LONGEST)
    half = 0.5 * (right - left) / pieces
    rule = 3
    if half < 0.12:
        rule = 0
    elif half < 0.4:
        rule = 1
    elif half < 0.8:
        rule = 2
    for piece in range(pieces):
        middle = left + (2 * piece + 1) * half
        for i in range(COUNTS[rule]):
            y = middle + half * NODES[rule, i]
            share = half * SHARES[rule, i]
            radius = math.sqrt(square + y * y)
            tail = upper_tail(radius)
            inverse = 1.0 / radius if radius > 1e-8 else 0.0
            density = math.exp(-0.5 * (square + y * y))
            for f in range(3):
                offset = line[OFFSETS + f]
                apart = offset * offset + y * y
                if apart > 0.0:
                    part = share * offset / apart
                    value = -DENSITY if radius <= 1e-8 else (tail - faces[f, SHIFT]) * inverse
                    sums[0, f] += part * (density * faces[f, GROWTH] - 1.0)
                    sums[1, f] += part * (value - faces[f, START])
    for f in range(3):
        height = abs(faces[f, HEIGHT])
        sums[1, f] *= height
        if faces[f, SHIFT] > 0.0:
            offset = line[OFFSETS + f]
            sums[1, f] -= 0.5 * excess_angle(height, offset, right, square)
            sums[1, f] += 0.5 * excess_angle(height, offset, left, square)


@kernel
def angle_in_face(atoms: np.ndarray, j: int, k: int, line: np.ndarray, y: float) -> float:
    """The direction of a point of a line in the plane of a face, seen along the face's normal."""
    x0 = line[POINT] + y * line[ALONG]
    x1 = line[POINT + 1] + y * line[ALONG + 1]
    x2 = line[POINT + 2] + y * line[ALONG + 2]
    nx = atoms[k, 0] - atoms[j, 0]
    ny = atoms[k, 1] - atoms[j, 1]
    nz = atoms[k, 2] - atoms[j, 2]
    # An axis far from the normal, made perpendicular; the third from both.
    ux, uy, uz = 0.0, -nz, ny
    if abs(nx) > max(abs(ny), abs(nz)):
        ux, uy, uz = -ny, nx, 0.0
    wx = ny * uz - nz * uy
    wy = nz * ux - nx * uz
    wz = nx * uy - ny * ux
    long = math.sqrt(nx * nx + ny * ny + nz * nz)
    return math.atan2((x0 * wx + x1 * wy + x2 * wz) / long, x0 * ux + x1 * uy + x2 * uz)


@kernel
def add_edge(
    atoms: np.ndarray, faces: np.ndarray, triple: tuple[int, int, int], line: np.ndarray
) -> None:
    """Add what an edge gives to its three faces.

    Where it leaves the reach of the mass, the outline of a face goes on along an arc. Against the
    clock the outline enters an edge at its start and leaves it at its end: the arcs of a face are
    the angles of all such starts less those of the ends.
    """
    i, j, k = triple
    three = np.empty((3, FIELDS))
    sums = np.empty((2, 3))
    three[0] = faces[i, j]
    three[1] = faces[i, k]
    three[2] = faces[j, k]
    exists = line[LEFT] < line[RIGHT]
    if exists:
        square = three[0, HEIGHT] ** 2 + line[OFFSETS] ** 2
        edge_integrals(line, square, three, sums)
    for f in range(3):
        one, two = (i, j) if f == 0 else ((i, k) if f == 1 else (j, k))
        face = faces[one, two]
        face[DOUBT] += line[BLUR]
        if exists:
            face[PLANE] += sums[0, f]
            face[BEYOND] += sums[1, f]
            face[EDGES] += 1.0
            # The line runs along a x b: from faces (i, j) and (j, k) the third lies to its left.
            for side in range(2):
                if line[AT_LEFT + side] > 0.0:
                    angle = angle_in_face(atoms, one, two, line, line[LEFT + side])
                    face[ARC] += angle if (side == 0) == (f != 1) else -angle


@kernel
def owns_foot(atoms: np.ndarray, faces: np.ndarray, j: int, k: int) -> int:
    """1 if no other cell holds the foot of face (j, k), 0 if one does, -1 if nobody can tell."""
    owns = 1
    part = faces[j, k, HEIGHT] / faces[j, k, LENGTH]
    for q in range(atoms.shape[0]):
        if q not in (j, k):
            near = j if faces[j, q, LENGTH] < faces[k, q, LENGTH] else k
            inner = 0.0
            for d in range(3):
                inner += part * (atoms[k, d] - atoms[j, d]) * (atoms[q, d] - atoms[near, d])
            rise = faces[near, q, HEIGHT] * faces[near, q, LENGTH]
            error = abs(faces[j, k, HEIGHT]) * faces[near, q, LENGTH] + abs(rise)
            if inner > rise + ROUNDING * error:
                return 0
            if not inner < rise - ROUNDING * error:
                owns = -1
    return owns


@kernel
def gather_faces(
    atoms: np.ndarray,
    faces: np.ndarray,
    lowest: int,
    mass: np.ndarray,
    hessian: np.ndarray,
    moment: np.ndarray,
) -> tuple[float, float]:
    """Sum the faces into masses, derivatives and moments; returns E <X, a(X)> and its doubt."""
    m = atoms.shape[0]
    mass[:] = 0.0
    hessian[:] = 0.0
    moment[:] = 0.0
    mass[lowest] = 1.0
    total = 0.0
    doubt = 0.0
    for j in range(m - 1):
        for k in range(j + 1, m):
            face = faces[j, k]
            h = face[HEIGHT]
            near = abs(h)
            length = face[LENGTH]
            # Negative by rounding is none; a plane but for rounding cannot be told from it.
            arc = face[ARC] - TURN * math.floor((face[ARC] + WHOLE) / TURN)
            if face[EDGES] == 0.0:
                # No edge within reach: all of the plane, or nothing.
                owns = owns_foot(atoms, faces, j, k) if near < REACH else 0
                if owns < 0:
                    return total, math.inf
                if owns == 0:
                    continue
                arc = TURN
            elif arc > TURN - 2.0 * WHOLE:
                return total, math.inf
            share = (arc - face[PLANE]) / TURN
            tail = upper_tail(near)
            beyond = (arc * tail - face[BEYOND]) / TURN
            density = DENSITY * math.exp(-0.5 * h * h)
            sheet = max(share, 0.0) * density
            total += length * sheet
            doubt += length * (density + near * tail) * (face[DOUBT] + ROUNDING)
            for d in range(3):
                push = (atoms[k, d] - atoms[j, d]) / length * sheet
                moment[j, d] -= push
                moment[k, d] += push
            rate = sheet / length
            hessian[j, k] -= rate
            hessian[k, j] -= rate
            hessian[j, j] += rate
            hessian[k, k] += rate
            if h < 0.0:
                beyond = -beyond
            mass[j] -= beyond
            mass[k] += beyond
    return total, doubt


@kernel
def face_cells(
    atoms: np.ndarray,
    level: np.ndarray,
    mass: np.ndarray,
    hessian: np.ndarray,
    moment: np.ndarray,
) -> tuple[float, float]:
    """Masses, mass derivatives and first moments `(m, 3)` of the cells in R^3, x ~ N(0, I).

    As `cell_edges` in the plane: fills the arrays and returns `E <X, a_j(X)>` for potentials
    `level (m,)`; and what rounding may have changed in it, infinite where cells meet so closely
    that decisions are rounding: the arrays are not to be used then.
    """
    m = atoms.shape[0]
    faces = np.empty((m, m, FIELDS))
    if not lay_faces(atoms, level, faces):
        return 0.0, math.inf
    lowest = 0
    for j in range(m):
        if level[j] < level[lowest]:
            lowest = j
    line = np.empty(PARTS)
    for i in range(m - 2):
        for j in range(i + 1, m - 1):
            for k in range(j + 1, m):
                if not find_line(atoms, faces, i, j, k, line):
                    continue
                if line[BLUR] < math.inf and not cut_line(atoms, faces, i, j, k, line):
                    continue
                if not line[BLUR] < math.inf:
                    return 0.0, math.inf
                add_edge(atoms, faces, (i, j, k), line)
    return gather_faces(atoms, faces, lowest, mass, hessian, moment)


@kernel
def split_levels(atoms: np.ndarray, v: np.ndarray, level: np.ndarray) -> None:
    """Potentials `level (m,)` next to `v (m,)` at which four cells meet on no line.

    A part of the distance to the nearest atom splits what is near, and the distance to a point in
    general position, which is no linear function of the atoms, what is far apart. No face moves
    by more than 2e-8 deviations.
    """
    m = atoms.shape[0]
    for j in range(m):
        nearest = math.inf
        for k in range(m):
            apart = 0.0
            for d in range(3):
                apart += (atoms[j, d] - atoms[k, d]) ** 2
            if k != j and apart < nearest:
                nearest = apart
        away = 1.0
        for d in range(3):
            away += (atoms[j, d] - CENTRE[d]) ** 2
        moved = math.sqrt(nearest) * (place_of(j, -1) - 0.5) + math.sqrt(away)
        level[j] = v[j] + SPLIT * moved


@kernel
def split_cells(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    mass: np.ndarray,
    hessian: np.ndarray,
    moment: np.ndarray,
) -> tuple[float, float]:
    """The dual value at `v (m,)`, its doubt, and the cells there, expanded from near by.

    Cells of regular targets meet four at a line and eight at a point, where rounding would decide.
    They are taken apart by `split_levels`, and masses and value are led back by their derivatives:
    what that leaves out, 1e-16, is less than ROUNDING.
    """
    m = atoms.shape[0]
    level = np.empty(m)
    split_levels(atoms, v, level)
    value, doubt = face_cells(atoms, level, mass, hessian, moment)
    if not doubt < math.inf:
        return value, math.inf
    for j in range(m):
        value += v[j] * (weights[j] - mass[j])
    for j in range(m):
        moved = 0.0
        for k in range(m):
            moved += hessian[j, k] * (level[k] - v[k])
        value += 0.5 * (level[j] - v[j]) * moved
        mass[j] += moved
    return value, doubt
