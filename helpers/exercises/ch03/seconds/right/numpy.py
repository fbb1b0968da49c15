import numpy as np

def least_seconds(shape, itemsize, bandwidth):
    return np.prod(shape, dtype=np.float64) * itemsize / bandwidth
