"""Channels behind a fixed map of their input: any map, or another origin."""
