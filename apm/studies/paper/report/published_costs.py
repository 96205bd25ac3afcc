"""The paper's published figures: median cumulative seconds over the first 40 queries.

Measured by its authors on Intel Xeon Gold 6226 processors at 2.7 GHz (appendix, section B.5).
"""

from __future__ import annotations

COLUMNS = ("APM-LR", "Uncertainty", "BALD", "InfoGain", "Random", "MaxVar")
QUERIES = 40

# Selection alone (appendix, Table 3).
_SELECTION = {
    "vehicle-full": (0.173, 0.077, 2.212, 7.166, 0.003, 0.061),
    "vehicle-cars": (0.089, 0.039, 1.078, 3.462, 0.002, 0.030),
    "vehicle-transport": (0.087, 0.037, 1.036, 3.306, 0.002, 0.029),
    "letterDP": (0.336, 0.149, 4.230, 12.755, 0.005, 0.118),
    "letterEF": (0.318, 0.143, 4.044, 12.188, 0.005, 0.113),
    "letterIJ": (0.314, 0.139, 3.941, 11.879, 0.004, 0.110),
    "letterMN": (0.331, 0.147, 4.170, 12.531, 0.005, 0.117),
    "letterUV": (0.330, 0.145, 4.129, 12.429, 0.005, 0.115),
    "letterVY": (0.318, 0.143, 4.063, 12.284, 0.004, 0.114),
    "austra": (0.150, 0.063, 1.770, 5.089, 0.003, 0.050),
    "wdbc": (0.125, 0.052, 1.480, 6.415, 0.003, 0.042),
    "clouds": (0.119, 0.053, 1.522, 2.735, 0.002, 0.041),
    "cross": (0.125, 0.053, 1.521, 2.722, 0.002, 0.040),
    "horseshoe": (0.116, 0.053, 1.517, 2.731, 0.002, 0.040),
}
# The variational posterior alone (appendix, Table 4).
_POSTERIOR = {
    "vehicle-full": (10.088, 4.540, 10.118, 9.729, 7.469, 18.064),
    "vehicle-cars": (5.420, 4.412, 5.605, 5.475, 3.280, 4.558),
    "vehicle-transport": (9.609, 5.814, 9.289, 9.083, 11.216, 21.058),
    "letterDP": (7.618, 6.412, 6.904, 6.758, 10.694, 11.851),
    "letterEF": (6.866, 5.701, 6.320, 6.160, 11.302, 10.755),
    "letterIJ": (7.367, 5.724, 6.924, 6.708, 10.019, 9.846),
    "letterMN": (8.190, 6.281, 7.615, 7.375, 10.082, 13.236),
    "letterUV": (8.029, 6.556, 7.137, 7.075, 10.746, 12.585),
    "letterVY": (7.463, 5.760, 7.142, 6.910, 8.234, 9.975),
    "austra": (12.513, 6.451, 12.009, 11.645, 8.541, 13.580),
    "wdbc": (17.966, 10.880, 14.183, 13.874, 20.763, 29.778),
    "clouds": (1.221, 1.172, 1.156, 1.322, 3.201, 5.318),
    "cross": (1.386, 2.417, 1.474, 1.537, 3.138, 4.453),
    "horseshoe": (0.996, 0.908, 0.863, 0.931, 0.802, 1.208),
}
# Selection, posterior and retraining (appendix, Table 5).
_TOTAL = {
    "vehicle-full": (10.288, 4.637, 12.365, 16.943, 7.493, 18.148),
    "vehicle-cars": (5.532, 4.474, 6.727, 8.980, 3.306, 4.616),
    "vehicle-transport": (9.721, 5.876, 10.341, 12.419, 11.238, 21.116),
    "letterDP": (7.992, 6.583, 11.139, 19.534, 10.730, 11.995),
    "letterEF": (7.215, 5.868, 10.396, 18.414, 11.330, 10.887),
    "letterIJ": (7.716, 5.892, 10.896, 18.619, 10.048, 9.981),
    "letterMN": (8.561, 6.455, 11.813, 19.991, 10.124, 13.374),
    "letterUV": (8.399, 6.724, 11.294, 19.552, 10.781, 12.724),
    "letterVY": (7.802, 5.931, 11.233, 19.233, 8.260, 10.118),
    "austra": (12.690, 6.538, 13.801, 16.804, 8.574, 13.655),
    "wdbc": (18.130, 10.968, 15.711, 20.323, 20.787, 29.842),
    "clouds": (1.358, 1.241, 2.706, 4.122, 3.224, 5.385),
    "cross": (1.534, 2.490, 3.028, 4.291, 3.159, 4.515),
    "horseshoe": (1.134, 0.978, 2.405, 3.741, 0.819, 1.264),
}

PUBLISHED: dict[str, dict[str, dict[str, float]]] = {
    kind: {name: dict(zip(COLUMNS, row, strict=True)) for name, row in table.items()}
    for kind, table in (("selection", _SELECTION), ("posterior", _POSTERIOR), ("total", _TOTAL))
}
"""Seconds by table (`selection`, `posterior`, `total`), data set and method."""
