"""The paper's experiments: its protocol and methods, the verdicts on its claims, and the report."""
