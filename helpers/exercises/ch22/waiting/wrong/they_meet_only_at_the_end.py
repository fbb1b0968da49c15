import numpy as np

def waits(work, every):
    total = np.sum(work, axis=0)
    return total.max() - total
