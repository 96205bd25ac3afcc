"""Samples against few atoms: a start, Newton on the semi-dual, shortest paths, the pool."""
