import numpy as np
def tile(peak, bandwidth, itemsize):
    powers = 2 ** np.arange(20)
    return powers[2 * powers ** 2 / (2 * powers * itemsize) >= peak / bandwidth][0]
