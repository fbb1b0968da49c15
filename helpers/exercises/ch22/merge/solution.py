import numpy as np


def merge(output_a, logsum_a, output_b, logsum_b):
    logsum = np.logaddexp(logsum_a, logsum_b)
    weight_a = np.exp(logsum_a - logsum)[:, None]
    weight_b = np.exp(logsum_b - logsum)[:, None]
    return weight_a * output_a + weight_b * output_b, logsum
