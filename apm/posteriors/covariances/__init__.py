"""Covariances that keep their structure: blocks, Kronecker products, diagonals, spans."""
