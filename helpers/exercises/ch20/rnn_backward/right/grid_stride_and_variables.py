import numpy as np


@cuda.jit
def rnn_backward(h, d_out, d_next, d_z):
    for i in range(cuda.grid(1), h.size, cuda.gridsize(1)):
        slope = d_out[i] + d_next[i]
        state = h[i]
        d_z[i] = slope - slope * state * state
