@cuda.jit
def weight_grad(dy, a, dw):
    """Store the transpose of dy times a; a block has 16 × 16 results."""
    row = 16 * cuda.blockIdx.y + cuda.threadIdx.x
    column = 16 * cuda.blockIdx.x + cuda.threadIdx.y
    if row < dw.shape[0] and column < dw.shape[1]:
        total = np.float32(0)
        for b in range(a.shape[0]):
            total += dy[b, row] * a[b, column]
        dw[row, column] = total
