@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a, b = (0.99, 1.0) if i % 2 == 0 else (1.01, -1.0)
        v = x[i]
        for _ in range(64):
            v = a * v + b
        out[i] = v
