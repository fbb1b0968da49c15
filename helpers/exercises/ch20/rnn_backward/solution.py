import numpy as np

@cuda.jit
def rnn_backward(h, d_out, d_next, d_z):
    i = cuda.grid(1)
    if i < h.size:
        d_z[i] = (d_out[i] + d_next[i]) * (np.float32(1) - h[i] * h[i])
