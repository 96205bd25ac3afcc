"""Binary channels by a response that rises from zero to one: one file each."""
