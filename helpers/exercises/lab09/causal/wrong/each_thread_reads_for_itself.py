@cuda.jit
def causal(q, k, out):
    """Store q times the transpose of k for each head, -inf above the diagonal."""
    column, row = cuda.grid(2)
    h = cuda.blockIdx.z
    if row < q.shape[1] and column < q.shape[1]:
        total = np.float32(0) if column <= row else np.float32(-np.inf)
        if column <= row:
            for j in range(q.shape[2]):
                total += q[h, row, j] * k[h, column, j]
        out[h, row, column] = total
