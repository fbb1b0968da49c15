@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o < out.size:
        total = 0.0
        first = max(0, (o - w.size + stride) // stride)
        last = min(x.size - 1, o // stride)
        for i in range(first, last + 1):
            total += x[i] * w[o - i * stride]
        out[o] = total
