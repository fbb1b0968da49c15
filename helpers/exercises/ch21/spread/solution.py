@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o >= out.size:
        return
    total = 0.0
    for k in range(w.size):
        place = o - k
        if place >= 0 and place % stride == 0 and place // stride < x.size:
            total += x[place // stride] * w[k]
    out[o] = total
