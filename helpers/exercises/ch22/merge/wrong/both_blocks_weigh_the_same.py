import numpy as np


def merge(output_a, logsum_a, output_b, logsum_b):
    return (output_a + output_b) / 2, np.logaddexp(logsum_a, logsum_b)
