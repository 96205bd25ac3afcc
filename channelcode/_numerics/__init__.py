"""Named mathematics that the rest of the library stands on."""
