"""Entropy, divergence, mutual information of a channel's input and output."""

from channelcode.information.entropies import binary_entropy, entropy, kl_divergence
from channelcode.information.mutual import mutual_information
from channelcode.information.value import Information

__all__ = [
    "Information",
    "binary_entropy",
    "entropy",
    "kl_divergence",
    "mutual_information",
]
