import numpy as np


def merge(output_a, logsum_a, output_b, logsum_b):
    share = (np.exp(logsum_a) / (np.exp(logsum_a) + np.exp(logsum_b)))[:, None]
    return share * output_a + (1 - share) * output_b, np.log(np.exp(logsum_a) + np.exp(logsum_b))
