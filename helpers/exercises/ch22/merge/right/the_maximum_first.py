import numpy as np


def merge(output_a, logsum_a, output_b, logsum_b):
    most = np.maximum(logsum_a, logsum_b)
    share_a, share_b = np.exp(logsum_a - most), np.exp(logsum_b - most)
    total = share_a + share_b
    output = (share_a[:, None] * output_a + share_b[:, None] * output_b) / total[:, None]
    return output, most + np.log(total)
