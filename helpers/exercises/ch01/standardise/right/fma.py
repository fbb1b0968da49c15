import math

@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        v = cuda.fma(x[i], scale, -mean*scale)
        out[i] = math.copysign(min(abs(v), limit), v)
