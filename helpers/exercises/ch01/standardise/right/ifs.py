@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i >= x.size: return
    v = (x[i]-mean)*scale
    if v > limit: v = limit
    elif v < -limit: v = -limit
    out[i] = v
