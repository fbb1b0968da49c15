import math
import numpy as np

@cuda.jit
def combine(m, l, out):
    row = cuda.grid(1)
    if row < m.shape[0]:
        largest = m[row, 0]
        total = l[row, 0]
        for piece in range(1, m.shape[1]):
            new = max(largest, m[row, piece])
            total = total * math.exp(largest - new) + l[row, piece] * math.exp(m[row, piece] - new)
            largest = new
        out[row, 0] = largest
        out[row, 1] = total
