"""Compiled loops: contiguous arrays in, arrays out; importing this package does not import numba."""
