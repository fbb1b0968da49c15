import numpy as np


def merge(output_a, logsum_a, output_b, logsum_b):
    total_a, total_b = np.exp(logsum_a), np.exp(logsum_b)
    total = total_a + total_b
    output = (total_a[:, None] * output_a + total_b[:, None] * output_b) / total[:, None]
    return output, np.log(total)
