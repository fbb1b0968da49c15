@cuda.jit
def gram(a, out):
    """Store the dot products of all rows of a with all rows of a."""
    top, side = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for r in range(top + cuda.threadIdx.y, min(out.shape[0], top + 32), 16):
        for c in range(side + cuda.threadIdx.x, min(out.shape[0], side + 32), 16):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[r, k] * a[c, k]
            out[r, c] = total
