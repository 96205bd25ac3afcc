"""Compiled inner loops of the posteriors: contiguous float64 in, tuples out."""
