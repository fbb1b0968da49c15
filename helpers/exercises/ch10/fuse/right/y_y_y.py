@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        s = y * y
        out[i] = s + s + s - s * y - s * y
