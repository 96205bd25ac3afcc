"""The usual rules, one file each; those that read label probabilities share one base."""
