import numpy as np

def waits(work, every):
    total = np.zeros(work.shape[1])
    for start in range(0, len(work), every):
        group = np.sum(work[start : start + every], axis=0)
        total += group.max() - group
    return total
