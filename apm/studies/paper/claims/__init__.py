"""The paper's claims: `verdicts` and how they fall, `judges` by kind of claim, `statements`."""

from __future__ import annotations

from apm.studies.paper.claims.statements import CLAIMS
from apm.studies.paper.claims.verdicts import Finding, Sheets


def judge_claims(sheets: Sheets) -> list[Finding]:
    """A finding for every claim that the data sets and methods of this run can decide."""
    findings = []
    for claim in CLAIMS:
        try:
            verdict, number, measure = claim.judge(sheets)
        except KeyError as missing:
            verdict, number, measure = "not run", None, f"needs {missing.args[0]}"
        findings.append(Finding(claim.text, claim.place, verdict, number, measure))
    return findings


__all__ = ["CLAIMS", "Finding", "judge_claims"]
