"""Entropy, divergence, mutual information of a channel's input and output."""

from typing import TYPE_CHECKING

from channelcode._lazy import attach

if TYPE_CHECKING:
    from channelcode.information.entropies import binary_entropy as binary_entropy
    from channelcode.information.entropies import entropy as entropy
    from channelcode.information.entropies import kl_divergence as kl_divergence
    from channelcode.information.mutual import mutual_information as mutual_information
    from channelcode.information.value import Information as Information
else:
    attach(
        __name__,
        {
            "entropies": "binary_entropy entropy kl_divergence",
            "mutual": "mutual_information",
            "value": "Information",
        },
    )
