"""Additive noise under a power, where a theorem gives the capacity."""
