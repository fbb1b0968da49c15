import math
import numpy as np


@cuda.jit
def swiglu_backward(gate, up, d_out, d_both):
    one = np.float32(1)
    for i in range(cuda.grid(1), gate.size, cuda.gridsize(1)):
        g, u, d = gate[i], up[i], d_out[i]
        s = one / (one + math.exp(-g))
        silu = g * s
        d_both[1, i] = d * silu
        d_both[0, i] = d * u * (s + silu * (one - s))
