"""Pools of laws against one target: Gaussians, samples, the planar table, lower bounds."""
