"""Output laws of finitely many inputs, with divergences from them to a proved error."""
