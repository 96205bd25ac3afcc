"""Pools in tiles: what a pass keeps of the scores, and which tiles need not be read."""
