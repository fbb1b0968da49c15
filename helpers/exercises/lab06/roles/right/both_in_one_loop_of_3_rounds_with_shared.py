@cuda.jit
def roles(x, out, rounds):
    i = cuda.grid(1)
    if i < x.size:
        a = b = x[i]
        for k in range(rounds):
            a = np.float32(0.75) * a + np.float32(1)
            a = np.float32(0.75) * a + np.float32(1)
            a = np.float32(0.75) * a + np.float32(1)
            b = np.float32(0.5) * b - x[i]
        out[0, i] = a
        out[1, i] = b
