"""Large planar pools: a table of potentials, and cells of many candidates side by side."""
