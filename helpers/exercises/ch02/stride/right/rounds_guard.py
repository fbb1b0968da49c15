@cuda.jit
def square(x, out):
    t, s = cuda.grid(1), cuda.gridsize(1)
    for r in range((x.size+s-1)//s):
        i = r*s+t
        if i < x.size:
            out[i] = x[i]*x[i]
