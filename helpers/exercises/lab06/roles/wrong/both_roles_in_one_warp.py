@cuda.jit
def roles(x, out, rounds):
    """Store the long series of each element to out[0], and the short one to out[1]."""
    t = cuda.grid(1)
    if t == 0:
        for i in range(x.size):
            v = w = x[i]
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
            
            for _ in range(rounds):
                w = np.float32(0.5) * w - x[i]
            out[0, i], out[1, i] = v, w
