"""The report on the paper's experiments: one page, its chapters, its tables, and what was drawn."""
