@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    n = x.size
    if t < 2 * n:
        role = t // n
        i = t % n
        v = x[i]
        if role == 0:
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
        else:
            for _ in range(rounds):
                v = np.float32(0.5) * v - x[i]
        out[role, i] = v
