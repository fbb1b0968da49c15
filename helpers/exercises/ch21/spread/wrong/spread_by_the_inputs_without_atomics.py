@cuda.jit
def spread(x, w, out, stride):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(w.size):
            out[i * stride + k] = x[i] * w[k]
