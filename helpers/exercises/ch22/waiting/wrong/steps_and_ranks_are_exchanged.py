import numpy as np

def waits(work, every):
    sums = np.sum(work, axis=1)
    return sums.max() - sums
