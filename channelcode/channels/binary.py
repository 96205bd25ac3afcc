"""What the binary scalar channels share when they are parts of others."""

from __future__ import annotations

from channelcode.channels.base import Channel
from channelcode.errors import InvalidArgument


def binary_response(argument: str, channel: object) -> Channel:
    """Return `channel` if it is a scalar channel with two outputs and a continuous input."""
    if not isinstance(channel, Channel):
        raise InvalidArgument(argument, "must be a channel", channel)
    if channel.dim != 1 or channel.num_outputs != 2 or channel.inputs is not None:
        raise InvalidArgument(argument, "must be a scalar channel with two outputs", channel)
    return channel
