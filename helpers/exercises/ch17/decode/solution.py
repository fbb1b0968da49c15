import math
import numpy as np

@cuda.jit
def decode(m, l, o, out):
    head = cuda.blockIdx.x
    d = cuda.threadIdx.x
    if d < o.shape[2]:
        largest = m[head, 0]
        for part in range(1, m.shape[1]):
            largest = max(largest, m[head, part])
        total = np.float32(0)
        gathered = np.float32(0)
        for part in range(m.shape[1]):
            weight = math.exp(m[head, part] - largest)
            total += weight * l[head, part]
            gathered += weight * o[head, part, d]
        out[head, d] = gathered / total
