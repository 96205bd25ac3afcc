"""Without torch everything else works, and the error names the extra."""

from __future__ import annotations

import sys

import pytest

import apm
from channelcode.errors import MissingExtra


def test_the_error_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    from apm.encoders import TorchFeatures

    with pytest.raises(MissingExtra, match=r"channelcode\[torch\]"):
        TorchFeatures(object())


def test_importing_apm_does_not_import_torch() -> None:
    import subprocess

    code = "import apm, apm.encoders, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert apm.__name__ == "apm"
