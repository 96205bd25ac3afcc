"""Data sets by nickname: the catalogue, where the files come from, and the synthetic ones."""
