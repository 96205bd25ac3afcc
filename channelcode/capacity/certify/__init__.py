"""The only bounds on a capacity: whatever a solver proposes is judged here.

`bounds` holds `certify`, which asks the right one of `theorems` (the value is its own bound),
`finite` (a maximum over letters), `line` (every interval between probes) and `space` (climbs).
"""

from channelcode.capacity.certify.bounds import Bounds, certify

__all__ = ["Bounds", "certify"]
