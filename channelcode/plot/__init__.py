"""Pictures of capacities and of codes with feedback.

Needs matplotlib (the extra `plot`). Every function returns a `matplotlib.figure.Figure` and leaves
pyplot's global state alone; save it with `figure.savefig(path)`.

- `capacities`: the KKT function touching its bound, and atoms splitting as power grows;
- `feedback`: the posterior of a message as it sharpens, information, rates, maps;
- `style`: what they share.
"""

from channelcode.plot.capacities import capacity, capacity_curve, kkt_function
from channelcode.plot.feedback import information, maps, rates, waterfall
from channelcode.plot.style import BLUE, COLOURS, GREEN, GREY, ORANGE, new_figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "ORANGE",
    "capacity",
    "capacity_curve",
    "information",
    "kkt_function",
    "maps",
    "new_figure",
    "rates",
    "waterfall",
]
