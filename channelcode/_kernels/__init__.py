"""Compiled loops: contiguous arrays in, arrays out; importing this package leaves numba alone."""
