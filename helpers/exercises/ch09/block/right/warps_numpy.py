import numpy as np
from helpers import occupancy, gpus
def smallest_block(registers, floats, names, wanted):
    rows = [gpus.find(n) for n in names]
    for warps in range(1, 33):
        t = warps * 32
        f = np.array([occupancy(registers, t * floats * np.dtype(np.float32).itemsize, t, r).fraction for r in rows])
        if np.all(f >= wanted):
            return t
    return 0
