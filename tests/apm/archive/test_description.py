"""Objects as plain descriptions: tested with the archive; here what a file may not name."""

from __future__ import annotations

import pytest

from apm.archive.description import describe, posterior_class, restore
from apm.encoders import Standardised
from channelcode.errors import InvalidArgument


@pytest.mark.parametrize("name", ["system", "Posterior.__init__", "", None, "JournalFile"])
def test_only_exported_classes_can_be_named(name):
    with pytest.raises(InvalidArgument, match="classes of this library"):
        restore({"type": name, "fields": {}}, {}, "selector")
    with pytest.raises(InvalidArgument, match="must be given to load"):
        posterior_class(name)


def test_a_standardising_encoder_is_described_with_its_arrays():
    arrays: dict = {}
    encoder = Standardised.of([[1.0, 2.0], [3.0, 6.0]])
    again = restore(describe(encoder, arrays, "encoder"), arrays, "encoder")
    assert again.encode([[5.0, 5.0]]).tolist() == encoder.encode([[5.0, 5.0]]).tolist()
