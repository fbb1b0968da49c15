@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a = cuda.selp(i % 2 == 0, 0.99, 1.01)
        b = cuda.selp(i % 2 == 0, 1.0, -1.0)
        v = x[i]
        for _ in range(64):
            v = a * v + b
        out[i] = v
