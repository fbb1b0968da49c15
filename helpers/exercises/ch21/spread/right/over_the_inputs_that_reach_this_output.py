@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o < out.size:
        total = 0.0
        for i in range(x.size):
            k = o - i * stride
            if 0 <= k < w.size:
                total += x[i] * w[k]
        out[o] = total
