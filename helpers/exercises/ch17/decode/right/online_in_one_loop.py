import math
import numpy as np


@cuda.jit
def decode(m, l, o, out):
    head = cuda.blockIdx.x
    d = cuda.threadIdx.x
    if d < o.shape[2]:
        largest = np.float32(-np.inf)
        total = np.float32(0)
        gathered = np.float32(0)
        for part in range(m.shape[1]):
            now = max(largest, m[head, part])
            shrink = math.exp(largest - now)
            weight = math.exp(m[head, part] - now)
            total = total * shrink + weight * l[head, part]
            gathered = gathered * shrink + weight * o[head, part, d]
            largest = now
        out[head, d] = gathered / total
