@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    half = cuda.gridsize(1) // 2
    role = 0 if t < half else 1
    i = t - role * half
    if i < x.size:
        v = x[i]
        if role == 0:
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
        else:
            for _ in range(rounds):
                v = np.float32(0.5) * v - x[i]
        out[role, i] = v
