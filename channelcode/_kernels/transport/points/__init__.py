"""A normal law as many points: rank their cells, Newton's method, a coupling, whole pools."""
