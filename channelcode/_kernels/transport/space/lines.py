"""The lines on which three cells in R^3 meet: where they run, where they end, and how surely."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

REACH = 8.5  # deviations: the mass beyond, 1e-17, is none
ROUNDING = 3.6e-15  # sixteen units in the last place: of a line between planes at right angles
PARALLEL = 1e-13  # sine of an angle between planes that is rounding
# Places in `faces (m, m, FIELDS)`, for each pair of atoms j < k; LENGTH and HEIGHT both ways round.
LENGTH, HEIGHT, START, SHIFT, GROWTH, PLANE, BEYOND, ARC, EDGES, DOUBT = range(10)
FIELDS = 10
# Places in `line (PARTS,)`: a point, the direction, the distances from the feet of three faces, the
# ends and whether they lie at the rim, and how far rounding may move the ends and the line.
POINT, ALONG, OFFSETS, LEFT, RIGHT, AT_LEFT, AT_RIGHT, BLUR = 0, 3, 6, 9, 10, 11, 12, 13
PARTS = 14


@kernel
def two_sides(
    atoms: np.ndarray, i: int, j: int, k: int
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """The sides a_j - a_i and a_k - a_i of a triangle of atoms, and their vector product."""
    ax = atoms[j, 0] - atoms[i, 0]
    ay = atoms[j, 1] - atoms[i, 1]
    az = atoms[j, 2] - atoms[i, 2]
    bx = atoms[k, 0] - atoms[i, 0]
    by = atoms[k, 1] - atoms[i, 1]
    bz = atoms[k, 2] - atoms[i, 2]
    return ax, ay, az, bx, by, bz, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def foot_distance(
    atoms: np.ndarray, faces: np.ndarray, j: int, k: int, l: int, area: float
) -> float:
    """How far, in the plane of face (j, k), the line shared with cell l is from the face's foot.

    Negative if the foot lies on the side of l. `area` is |(a_k - a_j) x (a_l - a_j)|.
    """
    length = faces[j, k, LENGTH]
    h = faces[j, k, HEIGHT]
    along = 0.0
    for d in range(3):
        along += (atoms[k, d] - atoms[j, d]) * (atoms[l, d] - atoms[j, d])
    near = j
    if along > 0.5 * length * length:
        # Differences from the nearer end keep their digits when atoms nearly coincide.
        near = k
        along = 0.0
        for d in range(3):
            along += (atoms[k, d] - atoms[j, d]) * (atoms[l, d] - atoms[k, d])
    room = faces[near, l, HEIGHT] * faces[near, l, LENGTH] - h * along / length
    return room * length / area


@kernel
def nearest_of(faces: np.ndarray, i: int, j: int, k: int, q: int) -> int:
    """The one of i, j, k whose atom is nearest to that of q."""
    near = i
    if faces[q, j, LENGTH] < faces[q, near, LENGTH]:
        near = j
    if faces[q, k, LENGTH] < faces[q, near, LENGTH]:
        near = k
    return near


@kernel
def find_line(
    atoms: np.ndarray, faces: np.ndarray, i: int, j: int, k: int, line: np.ndarray
) -> bool:
    """Whether the cells i < j < k meet on a line within reach; fills `line`, but for its ends.

    An infinite `line[BLUR]` says that nobody can tell.
    All is relative to the distances of the three planes from the origin: a line that passes close
    to it keeps its digits.
    """
    ax, ay, az, bx, by, bz, dx, dy, dz = two_sides(atoms, i, j, k)
    area = math.sqrt(dx * dx + dy * dy + dz * dz)
    one, two, three = faces[i, j, LENGTH], faces[i, k, LENGTH], faces[j, k, LENGTH]
    sides = min(one, two, three) * max(one, two, three)
    if not area > PARALLEL * sides:
        return False
    h = faces[i, j, HEIGHT]
    line[OFFSETS] = foot_distance(atoms, faces, i, j, k, area)
    square = h * h + line[OFFSETS] ** 2
    line[BLUR] = ROUNDING * sides / area
    if not square < REACH * REACH:
        # Planes that are nearly parallel meet somewhere, but is it far enough away?
        limit = REACH * (1.0 + line[BLUR])
        line[BLUR] = math.inf
        return abs(h) < REACH and not square > limit * limit
    line[OFFSETS + 1] = foot_distance(atoms, faces, i, k, j, area)
    line[OFFSETS + 2] = foot_distance(atoms, faces, j, k, i, area)
    line[ALONG] = dx / area
    line[ALONG + 1] = dy / area
    line[ALONG + 2] = dz / area
    # The point of the line nearest to the origin: h along the normal, then across.
    across = line[OFFSETS] * one / area
    up = h / one - across * (ax * bx + ay * by + az * bz) / (one * one)
    line[POINT] = up * ax + across * bx
    line[POINT + 1] = up * ay + across * by
    line[POINT + 2] = up * az + across * bz
    return True


@kernel
def cut_line(
    atoms: np.ndarray, faces: np.ndarray, i: int, j: int, k: int, line: np.ndarray
) -> bool:
    """Whether the other cells leave a part of the line to i, j, k; fills its ends.

    Every decision is compared with its own rounding. `line[BLUR]` ends as the angle, seen from the
    origin or farther away, by which rounding may move the line and its ends: infinite if a
    decision could have gone the other way and more than such an angle hung on it.
    """
    m = atoms.shape[0]
    square = line[OFFSETS] ** 2 + faces[i, j, HEIGHT] ** 2
    radius = math.sqrt(square)
    rim = math.sqrt(REACH * REACH - square)
    blur = line[BLUR]
    left, right = -rim, rim
    left_blur, right_blur = 0.0, 0.0  # of the ends, in deviations
    at_left, at_right = True, True
    left_unsure, right_unsure, unsure = False, False, False
    for q in range(m):
        if q in (i, j, k):
            continue
        near = nearest_of(faces, i, j, k, q)
        slope, inner = 0.0, 0.0
        for d in range(3):
            apart = atoms[q, d] - atoms[near, d]
            slope += line[ALONG + d] * apart
            inner += line[POINT + d] * apart
        length = faces[near, q, LENGTH]
        rise = faces[near, q, HEIGHT] * length
        room = rise - inner
        size = abs(slope)
        error = blur * length * (radius + rim) + ROUNDING * abs(rise)
        if room - size * rim > error:
            continue
        if room + size * rim < -error:
            return False
        if size * rim <= error:
            unsure = True
            continue
        end = room / slope
        error = (blur * length * (radius + abs(end)) + ROUNDING * abs(rise)) / size
        if slope > 0.0:
            if end >= rim:
                right_unsure = True
            elif end < right:
                right_blur = error if end + error < right - right_blur else max(error, right_blur)
                right = end
                at_right = False
            elif end - error < right + right_blur:
                right_blur = max(error, right_blur)
        else:
            if end <= -rim:
                left_unsure = True
            elif end > left:
                left_blur = error if end - error > left + left_blur else max(error, left_blur)
                left = end
                at_left = False
            elif end + error > left - left_blur:
                left_blur = max(error, left_blur)
        if left - left_blur > right + right_blur:
            return False
    line[LEFT] = left
    line[RIGHT] = right
    line[AT_LEFT] = 1.0 if at_left else 0.0
    line[AT_RIGHT] = 1.0 if at_right else 0.0
    near_left = math.sqrt(square + left * left)
    near_right = math.sqrt(square + right * right)
    unsure = unsure or (at_left and left_unsure) or (at_right and right_unsure)
    unsure = unsure or (not at_left and left - left_blur <= -rim)
    unsure = unsure or (not at_right and right + right_blur >= rim)
    nearest = radius if left <= 0.0 <= right else min(near_left, near_right)
    line[BLUR] = math.inf
    if nearest > 0.0 and not unsure:
        line[BLUR] = blur + left_blur / near_left + right_blur / near_right
    return True
