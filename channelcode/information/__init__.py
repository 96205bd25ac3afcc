"""Entropy, divergence, mutual information of a channel's input and output, and gap bounds."""

from channelcode.information.entropies import binary_entropy, entropy, kl_divergence
from channelcode.information.gap import GapBound, information_gap_bound
from channelcode.information.mutual import mutual_information
from channelcode.information.value import Information

__all__ = [
    "GapBound",
    "Information",
    "binary_entropy",
    "entropy",
    "information_gap_bound",
    "kl_divergence",
    "mutual_information",
]
