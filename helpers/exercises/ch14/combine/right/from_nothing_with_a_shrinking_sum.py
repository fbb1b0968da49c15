import math
import numpy as np


@cuda.jit
def combine(m, l, out):
    row = cuda.grid(1)
    if row >= m.shape[0]:
        return
    largest, total = np.float32(-np.inf), np.float32(0)
    for piece in range(m.shape[1]):
        mine = m[row, piece]
        now = max(mine, largest)
        total *= math.exp(largest - now)
        total += math.exp(mine - now) * l[row, piece]
        largest = now
    out[row, 0], out[row, 1] = largest, total
