import math
import numpy as np

@cuda.jit
def swiglu_backward(gate, up, d_out, d_both):
    i = cuda.grid(1)
    if i < gate.size:
        one = np.float32(1)
        g, u, d = gate[i], up[i], d_out[i]
        s = one / (one + math.exp(-g))
        d_both[0, i] = d * u * s * (one + g * (one - s))
        d_both[1, i] = d * g * s
