"""Information from draws of the channel input, for the logistic channel."""

import numpy as np

from channelcode._kernels.jit import kernel

LARGEST = 1e150  # products of factors up to 2 are turned into a logarithm before they overflow


@kernel
def logistic_gain(inputs):
    """I(L; Y) in nats for L uniform on each row of `inputs (n, s)`: `(n,)`, eq. (infogainMC).

    With e = exp(-|l|), H(Y | l) = ln(1 + e) + |l| e / (1 + e); the logarithms of a row are taken as
    one logarithm of their product.
    """
    n, draws = inputs.shape
    result = np.empty(n)
    for i in range(n):
        product, logs, rest, ones = 1.0, 0.0, 0.0, 0.0
        for j in range(draws):
            l = inputs[i, j]
            size = abs(l)
            e = np.exp(-size)
            small = e / (1.0 + e)
            product *= 1.0 + e
            if product > LARGEST:
                logs += np.log(product)
                product = 1.0
            if size < 745.0:  # beyond that e is zero, and an infinite input would give inf * 0
                rest += size * small
            ones += small if l < 0.0 else 1.0 - small
        ones /= draws
        zeros = 1.0 - ones
        across = 0.0
        if ones > 0.0:
            across -= ones * np.log(ones)
        if zeros > 0.0:
            across -= zeros * np.log(zeros)
        result[i] = max(across - (logs + np.log(product) + rest) / draws, 0.0)
    return result


@kernel
def binary_epig(joint, here, there):
    """The mean over targets of I(Y; Y*) in nats, from P(1, 1) `(n, t)` and the chances of a one.

    I = sum p ln p over the four cells, less those of the two margins.
    """
    n, targets = joint.shape
    own = 0.0
    for k in range(targets):
        own += negative_entropy(there[k])
    result = np.empty(n)
    for i in range(n):
        total = 0.0
        for k in range(targets):
            both = joint[i, k]
            cells = (both, here[i] - both, there[k] - both, 1.0 - here[i] - there[k] + both)
            for p in cells:
                if p > 0.0:
                    total += p * np.log(p)
        result[i] = max((total - own) / targets - negative_entropy(here[i]), 0.0)
    return result


@kernel
def negative_entropy(p):
    """p ln p + (1 - p) ln(1 - p), with 0 ln 0 = 0."""
    total = 0.0
    if p > 0.0:
        total += p * np.log(p)
    if p < 1.0:
        total += (1.0 - p) * np.log(1.0 - p)
    return total
