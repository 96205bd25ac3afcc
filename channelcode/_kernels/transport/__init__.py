"""Compiled loops of optimal transport."""
