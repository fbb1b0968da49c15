@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    w, lane = t // 32, t % 32
    role, i = w & 1, (w >> 1) * 32 + lane
    if i < x.size:
        v = x[i]
        a = np.float32(0.5) if role else np.float32(0.75)
        c = -v if role else np.float32(1)
        n = rounds if role else 3 * rounds
        for _ in range(n):
            v = a * v + c
        out[role, i] = v
