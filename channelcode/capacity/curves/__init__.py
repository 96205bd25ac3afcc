"""Between the solved powers of a capacity curve: the path of its atoms, and bounds."""
