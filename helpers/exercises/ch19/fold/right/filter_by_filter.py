import numpy as np


def fold(weight, mean, variance, gain, shift, eps):
    filters, taps = weight.shape
    out = np.zeros((filters, taps + 1))
    for k in range(filters):
        deviation = (variance[k] + eps) ** 0.5
        for tap in range(taps):
            out[k, tap] = gain[k] * weight[k, tap] / deviation
        out[k, taps] = shift[k] - gain[k] * mean[k] / deviation
    return out
