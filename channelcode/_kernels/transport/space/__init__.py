"""A Gaussian against atoms in R^3: cells from their edges, from slabs where those are in doubt."""
